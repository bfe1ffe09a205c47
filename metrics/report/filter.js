// Shows the rows of a list that have the chosen decision, verdict and label, and the words that are searched for.
for (const list of document.querySelectorAll(".all")) {
  const controls = list.querySelector(".filter");
  const choices = [...controls.querySelectorAll("select")];
  const search = controls.querySelector("input");
  const rows = [...list.querySelectorAll("tbody tr")].map((row) => ({
    row,
    cells: [...row.cells].map((cell) => cell.textContent),
    said: [...row.querySelectorAll(".said")].map((cell) => cell.textContent.toLowerCase()).join("\n"),
  }));
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const { row, cells, said } of rows) {
      const chosen = choices.every((choice) => !choice.value || cells[choice.dataset.column] === choice.value);
      row.hidden = !(chosen && words.every((word) => said.includes(word)));
      count += !row.hidden;
    }
    controls.querySelector("output").textContent = `${count} of ${rows.length} rows`;
  };
  controls.addEventListener("input", show);
  controls.hidden = false;
  show();
}
