// Shows one row at a time, keeps what is chosen in the browser, and saves it as a CSV.
const articles = [...document.querySelectorAll("article")];
const rater = document.querySelector("#rater");
const status = document.querySelector("[role=status]");
const key = document.body.dataset.key;
let chosen = {};
let place = 0;
const keep = () => {
  try { localStorage.setItem(key, JSON.stringify({ name: rater.value, chosen })); } catch { /* a browser may keep nothing */ }
};
const show = (index) => {
  place = Math.max(0, Math.min(index, articles.length - 1));
  articles.forEach((article, i) => { article.hidden = i !== place; });
  for (const button of articles[place].querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(chosen[place] === button.value));
  }
  status.textContent = `${Object.keys(chosen).length} of ${articles.length} judged`;
};
const choose = (value) => {
  chosen[place] = value;
  keep();
  const left = articles.findIndex((_, i) => i > place && !(i in chosen));
  show(left < 0 ? place : left);
};
const save = () => {
  const name = rater.value.trim();
  if (!name || ["row", "prediction"].includes(name)) {
    status.textContent = "Enter your name first; it becomes the name of a column.";
    rater.focus();
    return;
  }
  const quote = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const lines = Object.keys(chosen).map((i) => {
    const text = articles[i].querySelector("[data-name=prediction]").textContent;
    return [articles[i].dataset.row, quote(text), chosen[i]].join(",");
  });
  const file = new Blob([["row,prediction," + quote(name), ...lines, ""].join("\n")], { type: "text/csv" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${name.replace(/\W+/g, "_")}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
  show(place);
};
for (const button of document.querySelectorAll(".choices button")) {
  button.addEventListener("click", () => choose(button.value));
}
document.addEventListener("keydown", (event) => {
  if (event.target === rater || event.ctrlKey || event.metaKey || event.altKey) return;
  const button = [...articles[place].querySelectorAll("button")].find((one) => one.value === event.key);
  if (button) choose(button.value);
});
document.querySelector("#back").addEventListener("click", () => show(place - 1));
document.querySelector("#next").addEventListener("click", () => show(place + 1));
document.querySelector("#save").addEventListener("click", save);
rater.addEventListener("input", keep);
try {
  const kept = JSON.parse(localStorage.getItem(key));
  if (kept) { rater.value = kept.name; chosen = kept.chosen; }
} catch { /* nothing was kept */ }
const first = articles.findIndex((_, i) => !(i in chosen));
show(first < 0 ? 0 : first);
