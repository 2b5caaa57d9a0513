// Every text of the page with its contrast by WCAG 2.2, from computed colours; what falls short is returned.
() => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parts(getComputedStyle(each).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const measured = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, words = walker.currentNode.textContent.trim();
    if (!words || ["SCRIPT", "STYLE", "CANVAS", "title"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const drawn = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [one, other] = [luminance(parts(drawn)), luminance(behind(element))].sort((a, b) => b - a);
    measured.push({ words: words.slice(0, 40), ratio: (one + 0.05) / (other + 0.05) });
  }
  return measured;
}
