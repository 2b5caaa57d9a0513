// A picture on a canvas: its size, its axes, zoom and pan by wheel, drag, buttons and keys, and the selected mark.
const MARGIN = { left: 72, right: 12, top: 8, bottom: 30 };
const FONT = "12px system-ui, sans-serif";
const STEP = 1.6; // of one zoom

class Plot {
  constructor(figure, home, zoomsBoth) {
    this.figure = figure;
    this.canvas = figure.querySelector("canvas");
    this.output = figure.querySelector("output");
    this.tip = new Tip(figure, this.canvas);
    this.home = home;
    this.view = { ...home };
    this.zoomsBoth = zoomsBoth;
    this.selected = null;
    this.marks = "ops"; // what a mark is: a row of the ops, or of the operations
    this.waiting = false;
    this.listen();
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.pressed(event));
    canvas.addEventListener("pointermove", (event) => this.dragged(event));
    canvas.addEventListener("pointerup", (event) => this.released(event));
    canvas.addEventListener("pointerleave", () => this.tip.tell(null));
    canvas.addEventListener("keydown", (event) => this.keyed(event));
    canvas.addEventListener("focus", () => this.redraw());
    canvas.addEventListener("blur", () => this.redraw());
    this.figure.querySelectorAll("button[data-do]").forEach((button) => {
      button.addEventListener("click", () => this.act(button.dataset.do));
    });
    new ResizeObserver(() => this.redraw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  get area() {
    const { left, right, top, bottom } = MARGIN;
    return { x: left, y: top, width: this.width - left - right, height: this.height - top - bottom };
  }

  x(value) {
    return this.area.x + ((value - this.view.x0) / (this.view.x1 - this.view.x0)) * this.area.width;
  }

  y(value) {
    return this.area.y + this.area.height - ((value - this.view.y0) / (this.view.y1 - this.view.y0)) * this.area.height;
  }

  valueAt(offsetX, offsetY) {
    const { x, y, width, height } = this.area, view = this.view;
    return {
      x: view.x0 + ((offsetX - x) / width) * (view.x1 - view.x0),
      y: view.y0 + ((y + height - offsetY) / height) * (view.y1 - view.y0),
    };
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const began = performance.now();
      this.paint();
      this.figure.dataset.paintMs = (performance.now() - began).toFixed(2);
    });
  }

  paint() {
    const canvas = this.canvas, scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    Object.assign(this, { width, height });
    const pen = canvas.getContext("2d", { alpha: false });
    const palette = colours();
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = FONT;
    pen.fillStyle = palette.panel;
    pen.fillRect(0, 0, width, height);
    this.draw(pen, palette);
    this.figure.dataset.view = [this.view.x0, this.view.x1].map((value) => value.toPrecision(8)).join(" ");
  }

  clipped(pen, drawing) {
    const { x, y, width, height } = this.area;
    pen.save();
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
    drawing();
    pen.restore();
  }

  zoom(factor, at) {
    const view = this.view, home = this.home, middle = at || { x: (view.x0 + view.x1) / 2, y: (view.y0 + view.y1) / 2 };
    const axes = this.zoomsBoth ? ["x", "y"] : ["x"];
    for (const axis of axes) {
      const [low, high] = [`${axis}0`, `${axis}1`], whole = home[high] - home[low];
      const span = Math.min(Math.max((view[high] - view[low]) / factor, whole * 1e-6), whole);
      const share = (middle[axis] - view[low]) / (view[high] - view[low]);
      this.move(axis, middle[axis] - share * span, span);
    }
    this.redraw();
  }

  move(axis, start, span) {
    const [low, high] = [`${axis}0`, `${axis}1`];
    this.view[low] = Math.min(Math.max(start, this.home[low]), this.home[high] - span);
    this.view[high] = this.view[low] + span;
  }

  pan(shareX, shareY) {
    const view = this.view;
    this.move("x", view.x0 + shareX * (view.x1 - view.x0), view.x1 - view.x0);
    if (this.zoomsBoth) this.move("y", view.y0 + shareY * (view.y1 - view.y0), view.y1 - view.y0);
    this.redraw();
  }

  act(action) {
    if (action === "in") this.zoom(STEP, this.centre());
    if (action === "out") this.zoom(1 / STEP, this.centre());
    if (action === "all") {
      this.view = { ...this.home };
      this.redraw();
    }
    if (action === "save") this.save();
    if (action === "swap") this.swap();
  }

  save() {
    this.canvas.toBlob((picture) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(picture);
      link.download = `${this.figure.id}.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  wheeled(event) {
    if (!event.ctrlKey && document.activeElement !== this.canvas) return; // the page scrolls
    event.preventDefault();
    if (event.shiftKey) this.pan(event.deltaY / 1000, 0);
    else this.zoom(Math.exp(-event.deltaY / 400), this.valueAt(event.offsetX, event.offsetY));
  }

  pressed(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { x: event.offsetX, y: event.offsetY, moved: 0 };
  }

  dragged(event) {
    if (!this.drag) {
      this.hover(event.offsetX, event.offsetY);
      return;
    }
    this.tip.tell(null);
    const { width, height } = this.area;
    const [dx, dy] = [event.offsetX - this.drag.x, event.offsetY - this.drag.y];
    this.drag = { x: event.offsetX, y: event.offsetY, moved: this.drag.moved + Math.abs(dx) + Math.abs(dy) };
    this.pan(-dx / width, dy / height);
  }

  // What lies under the pointer, told beside it.
  hover(offsetX, offsetY) {
    const { x, y, width, height } = this.area;
    const inside = offsetX >= x && offsetX <= x + width && offsetY >= y && offsetY <= y + height;
    this.tip.tell(inside ? this.hint(offsetX, offsetY) : null, offsetX, offsetY);
  }

  hint(offsetX, offsetY) {
    const mark = this.nearest(offsetX, offsetY);
    return mark === null || mark === undefined ? null : this.brief(mark);
  }

  brief(mark) {
    return this.sentence(mark);
  }

  released(event) {
    if (this.drag && this.drag.moved < 4) this.select(this.nearest(event.offsetX, event.offsetY));
    this.drag = null;
  }

  keyed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      ArrowUp: () => this.jump(-1),
      ArrowDown: () => this.jump(1),
      PageDown: () => this.pan(0.5, 0),
      PageUp: () => this.pan(-0.5, 0),
      "+": () => this.act("in"),
      "=": () => this.act("in"),
      "-": () => this.act("out"),
      0: () => this.act("all"),
      Home: () => this.act("all"),
      Enter: () => this.approach(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  // Selects, and the other pictures of the same ops or operations follow.
  select(mark) {
    if (mark === null || mark === undefined) return;
    this.show(mark);
    selectElsewhere(this, mark);
  }

  show(mark) {
    this.selected = mark;
    this.figure.dataset.selected = String(mark);
    this.output.textContent = this.sentence(mark);
    const at = this.place(mark);
    if (at.x < this.view.x0 || at.x > this.view.x1) this.move("x", at.x - (this.view.x1 - this.view.x0) / 2, this.view.x1 - this.view.x0);
    if (this.zoomsBoth && (at.y < this.view.y0 || at.y > this.view.y1)) {
      this.move("y", at.y - (this.view.y1 - this.view.y0) / 2, this.view.y1 - this.view.y0);
    }
    this.redraw();
  }

  centre() {
    return this.selected === null ? null : this.place(this.selected);
  }

  approach() {
    if (this.selected !== null) this.zoom(10, this.place(this.selected));
  }

  jump(by) {
    this.step(by);
  }

  swap() {}

  // Whether this picture has the mark; one of ops may lack some.
  has() {
    return true;
  }
}
