// What is told beside the pointer, and who follows a selection.
class Tip {
  constructor(figure, canvas) {
    this.canvas = canvas;
    this.box = document.createElement("div");
    this.box.className = "tip";
    this.box.hidden = true;
    figure.append(this.box);
  }

  tell(words, x, y) {
    this.box.hidden = !words;
    if (!words) return;
    this.box.textContent = words;
    const room = this.box.parentElement.clientWidth - this.box.offsetWidth;
    this.box.style.left = `${Math.max(Math.min(this.canvas.offsetLeft + x + 14, room), 0)}px`;
    this.box.style.top = `${this.canvas.offsetTop + y + 18}px`;
  }
}

// What else shows the same: pictures, and the table of ops.
function selectElsewhere(origin, mark) {
  for (const other of Object.values(plots)) {
    if (other !== origin && other.marks === origin.marks && other.has(mark)) other.show(mark);
  }
}
