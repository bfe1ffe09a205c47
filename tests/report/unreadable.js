([printed]) => {
  const found = [], wide = innerWidth + 1;
  const rgba = text => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = (top, under) => top.slice(0, 3).map((value, i) => value * top[3] + under[i] * (1 - top[3]));
  const light = colour => colour.map(value => value / 255)
    .map(value => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4)
    .reduce((sum, value, i) => sum + value * [.2126, .7152, .0722][i], 0);
  const scrolls = style => !printed && ['auto', 'scroll'].includes(style.overflowX);
  if (document.scrollingElement.scrollWidth > wide) found.push('the page is wider than the window');
  for (const node of document.querySelectorAll('body *')) {
    const box = node.getBoundingClientRect(), style = getComputedStyle(node);
    if (!box.width || !box.height || style.visibility === 'hidden' || node.matches('title, script, style')) continue;
    const name = `${node.tagName} ${node.getAttribute('class') ?? ''} ${node.textContent.trim().slice(0, 40)}`;
    const chain = []; for (let up = node; up; up = up.parentElement) chain.push(up);
    const inside = chain.slice(1).some(up => scrolls(getComputedStyle(up)));
    if (!inside && (box.left < -1 || box.right > wide)) found.push(`beyond the window: ${name}`);
    if (node.clientWidth && node.scrollWidth > node.clientWidth + 1 && style.overflowX !== 'visible' && !scrolls(style)
        && !node.matches('input, select')) found.push(`cut: ${name}`);
    if (![...node.childNodes].some(one => one.nodeType === 3 && one.data.trim())) continue;
    const root = getComputedStyle(document.documentElement), dark = matchMedia('(prefers-color-scheme: dark)').matches;
    let back = dark && root.colorScheme.includes('dark') ? [18, 18, 18] : [255, 255, 255], seen = 1;
    for (const up of chain.reverse()) {
      const own = getComputedStyle(up);
      if (!printed || own.printColorAdjust === 'exact') back = over(rgba(own.backgroundColor), back);
      seen *= Number(own.opacity);
    }
    const ink = rgba(node.closest('svg') ? style.fill : style.color);
    const [high, low] = [light(over([...ink.slice(0, 3), ink[3] * seen], back)), light(back)].sort((a, b) => b - a);
    const ratio = (high + .05) / (low + .05), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${name}`);
  }
  return found;
}
