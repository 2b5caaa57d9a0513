// L1 of a bank over the operations: tensors below, circular buffers on top of them.
class Levels extends Plot {
  constructor(figure) {
    const levels = content.levels, peak = content.memory.l1_peak;
    const highest = levels.bytes_per_bank.reduce((most, each) => Math.max(most, each), peak.capacity_bytes || 1);
    super(figure, { x0: 0, x1: levels.operation.length, y0: 0, y1: highest * 1.08 }, false);
    this.marks = "operations";
    this.memory = "L1";
    this.series = levels.bytes_per_bank;
    this.unit = { name: "kB", bytes: 1000 };
    this.capacity = peak.capacity_bytes;
    this.peakRow = levels.operation.indexOf(peak.operation);
    this.redraw();
  }

  draw(pen, palette) {
    this.drawOperations(pen, palette, `${this.memory}: bytes of one bank`);
    this.clipped(pen, () => {
      this.eachBar((row, left, wide) => this.bar(pen, palette, row, left, wide));
      this.drawCapacity(pen, palette);
      if (this.peakRow >= 0) this.mark(pen, palette.text, this.peakRow, content.marked === undefined ? "peak" : content.marked);
      if (this.selected !== null) this.mark(pen, palette.accent, this.selected, "");
    });
    drawFocus(this, pen, palette);
  }

  // The axes: operations, and bytes or addresses.
  drawOperations(pen, palette, yLabel) {
    const operations = content.levels.operation, { x0, x1, y0, y1 } = this.view, { name, bytes } = this.unit;
    const xs = ticks(x0, x1, Math.max(this.area.width / 80, 2))
      .filter((value) => Number.isInteger(value) && value < operations.length)
      .map((value) => [value, String(operations[value])]);
    const ys = ticks(y0 / bytes, y1 / bytes, 5).map((value) => [value * bytes, `${shown(value)} ${name}`]);
    drawAxes(this, pen, palette, { xs, ys, xLabel: "ttnn operation", yLabel });
  }

  // A bar for each operation in sight; of those that share a column of pixels, for the fullest.
  eachBar(drawn) {
    const { x0, x1 } = this.view, perColumn = (x1 - x0) / this.area.width;
    const first = Math.max(Math.floor(x0), 0), last = Math.min(Math.ceil(x1), this.series.length);
    if (perColumn <= 1) for (let row = first; row < last; row += 1) drawn(row, this.x(row), this.x(row + 1) - this.x(row));
    else for (let column = 0; column < this.area.width; column += 1) drawn(this.fullest(x0 + column * perColumn, perColumn), this.area.x + column, 1);
  }

  drawCapacity(pen, palette) {
    if (!this.capacity) return;
    pen.strokeStyle = palette.text;
    pen.setLineDash([6, 4]);
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(this.x(this.view.x0), this.y(this.capacity));
    pen.lineTo(this.x(this.view.x1), this.y(this.capacity));
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = palette.text;
    pen.textAlign = "right";
    pen.textBaseline = "bottom";
    pen.fillText(`capacity ${shown(this.capacity)} B`, this.area.x + this.area.width - 6, this.y(this.capacity) - 3);
  }

  // The fullest operation of those that share a column of pixels.
  fullest(from, count) {
    const levels = this.series;
    let most = Math.min(Math.floor(from), levels.length - 1);
    for (let row = most + 1; row < Math.min(from + count, levels.length); row += 1) if (levels[row] > levels[most]) most = row;
    return most;
  }

  bar(pen, palette, row, left, wide) {
    const levels = content.levels, total = levels.bytes_per_bank[row], circular = Math.min(levels.circular_buffers_bytes[row], total);
    const width = wide > 3 ? wide - 1 : wide;
    pen.fillStyle = palette.compute;
    pen.fillRect(left, this.y(total - circular), width, this.y(0) - this.y(total - circular));
    pen.fillStyle = palette.dram;
    pen.fillRect(left, this.y(total), width, this.y(total - circular) - this.y(total));
  }

  mark(pen, colour, row, label) {
    const x = this.x(row + 0.5), y = this.y(this.series[row]);
    pen.fillStyle = colour;
    pen.beginPath();
    polygon(pen, [[x, y - 2], [x + 6, y - 11], [x - 6, y - 11]]);
    pen.fill();
    const edge = this.area.x + this.area.width - 14;
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    if (label) pen.fillText(label, Math.max(Math.min(x, edge), this.area.x + 14), y - 12);
  }

  nearest(offsetX, offsetY) {
    const { x0, x1 } = this.view, row = this.valueAt(offsetX, offsetY).x, perColumn = (x1 - x0) / this.area.width;
    if (perColumn > 1) return this.fullest(Math.max(row, 0), perColumn);
    return Math.min(Math.max(Math.floor(row), 0), content.levels.operation.length - 1);
  }

  place(row) {
    return { x: row + 0.5, y: 0 };
  }

  step(by) {
    const at = this.selected === null ? this.peakRow : this.selected + by;
    this.select(Math.min(Math.max(at, 0), content.levels.operation.length - 1));
  }

  sentence(row) {
    const levels = content.levels;
    return [
      `operation ${levels.operation[row]}: ${cell(levels.name, row)}`,
      `L1 ${shown(levels.bytes_per_bank[row], "B")} per bank`,
      `tensors ${shown(levels.tensors_bytes[row], "B")}`,
      `circular buffers ${shown(levels.circular_buffers_bytes[row], "B")}`,
    ].join(" · ");
  }
}
