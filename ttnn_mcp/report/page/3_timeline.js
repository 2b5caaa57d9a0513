// Stages, layers, and of every device its ops, its gaps and the cores that worked, on one axis of time.
const NEIGHBOURS = 5; // ops on each side of the one that is zoomed in on
const DIGIT = 7; // pixels of a letter, about

class Timeline extends Plot {
  constructor(figure) {
    const lanes = lanesOf(content.ops);
    const end = Math.max(...lanes.map((lane) => lane.end), 1e-3);
    super(figure, { x0: 0, x1: end, y0: 0, y1: 1 }, false);
    this.lanes = lanes;
    this.tracks = tracksOf(lanes);
    this.laneOf = new Map(lanes.map((lane, place) => [lane.device, place]));
    this.placeIn = new Int32Array(content.ops.op.length);
    lanes.forEach((lane) => lane.rows.forEach((row, at) => { this.placeIn[row] = at; }));
    const last = this.tracks[this.tracks.length - 1];
    this.canvas.style.height = `${last.top + last.height + MARGIN.top + MARGIN.bottom}px`;
    this.mostCores = Math.max(content.card.worker_cores || 1, ...lanes.map((lane) => lane.mostCores));
    this.redraw();
  }

  draw(pen, palette) {
    const { x0, x1 } = this.view;
    const xs = ticks(x0, x1, Math.max(this.area.width / 90, 2)).map((value) => [value, shown(Number(value.toPrecision(7)))]);
    drawAxes(this, pen, palette, { xs, ys: [], xLabel: "microseconds since the window began", yLabel: "" });
    for (const { kind, top, height, label } of this.tracks) {
      pen.fillStyle = kind === "ops" ? palette.text : palette.quiet;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillText(kind === "cores" && label ? `${this.mostCores} cores` : label, this.area.x - 5, this.area.y + top + height / 2);
    }
    this.clipped(pen, () => {
      this.lanes.forEach((lane) => this.drawLane(pen, palette, lane));
      this.tracks.filter(({ kind }) => kind === "stages" || kind === "layers").forEach((track) => this.drawStretches(pen, palette, track));
      this.drawSelected(pen, palette);
    });
    drawFocus(this, pen, palette);
  }

  drawLane(pen, palette, lane) {
    const { x0, x1 } = this.view, { x: left, y, width } = this.area, { ops, waits, work } = lane;
    const columns = Math.ceil(width) + 1, perUs = width / (x1 - x0), top = y + ops.top;
    pen.fillStyle = palette.gap;
    pen.fillRect(this.x(0), top, lane.end * perUs, ops.height);
    if (waits) pen.fillRect(this.x(0), y + waits.top, lane.end * perUs, waits.height);
    const covered = BOUNDS.map(() => new Float32Array(columns)), worked = new Float32Array(columns), waited = new Float32Array(columns);
    const last = lowerBound(lane.starts, x1), found = [];
    let narrow = false;
    for (let at = Math.max(lowerBound(lane.reached, x0) - 1, 0); at < Math.min(last + 1, lane.rows.length); at += 1) {
      const begin = (lane.starts[at] - x0) * perUs, wide = (lane.ends[at] - lane.starts[at]) * perUs, gap = lane.gaps[at] * perUs;
      if (waits && gap >= 1) {
        pen.fillStyle = palette.warn;
        pen.fillRect(left + begin - gap, y + waits.top, gap, waits.height);
      } else if (waits) waited[Math.max(Math.floor(begin), 0)] += gap;
      if (looked.flags && looked.flags[lane.rows[at]]) found.push(begin, Math.max(wide, 2));
      if (wide < 1) {
        const column = Math.floor(begin);
        if (column < 0 || column >= columns) continue;
        narrow = true;
        covered[lane.bounds[at]][column] += wide;
        worked[column] += wide * lane.cores[at];
        continue;
      }
      const inside = wide > 2 ? wide - 0.5 : wide; // a hairline between neighbours
      pen.fillStyle = palette[BOUNDS[lane.bounds[at]]];
      pen.fillRect(left + begin, top, inside, ops.height);
      const high = ((lane.cores[at] || 0) / this.mostCores) * work.height;
      pen.fillStyle = palette.bar;
      pen.fillRect(left + begin, y + work.top + work.height - high, inside, high);
      if (wide > 46 && ops.height > 20) this.label(pen, palette, lane.rows[at], Math.max(begin, 0), Math.min(begin + wide, width), top + ops.height / 2);
    }
    if (narrow) this.drawColumns(pen, palette, lane, covered, worked);
    if (waits) this.drawWaits(pen, palette, waits, waited);
    pen.fillStyle = palette.text; // what was looked for, under its ops
    for (let at = 0; at < found.length; at += 2) pen.fillRect(left + found[at], top + ops.height - 5, found[at + 1], 5);
  }

  // Ops narrower than a pixel: a column is filled as far as kernels fill its time, in the colour of most of it.
  drawColumns(pen, palette, { ops, work }, covered, worked) {
    const { x: left, y } = this.area;
    for (let column = 0; column < worked.length; column += 1) {
      let busy = 0, most = 0;
      covered.forEach((times, bound) => {
        busy += times[column];
        if (times[column] > covered[most][column]) most = bound;
      });
      if (!busy) continue;
      const filled = Math.min(busy, 1) * ops.height, high = (worked[column] / busy / this.mostCores) * work.height;
      pen.fillStyle = palette[BOUNDS[most]];
      pen.fillRect(left + column, y + ops.top + ops.height - filled, 1, filled);
      pen.fillStyle = palette.bar;
      pen.fillRect(left + column, y + work.top + work.height - high, 1, high);
    }
  }

  drawWaits(pen, palette, { top, height }, waited) {
    pen.fillStyle = palette.warn;
    waited.forEach((share, column) => {
      const filled = Math.min(share, 1) * height;
      if (filled) pen.fillRect(this.area.x + column, this.area.y + top + height - filled, 1, filled);
    });
  }

  label(pen, palette, row, begin, end, middle) {
    const name = nameOfOp(row), fits = Math.floor((end - begin - 8) / DIGIT);
    if (fits < 3) return;
    pen.fillStyle = palette.panel;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText(name.length > fits ? `${name.slice(0, fits - 1)}…` : name, this.area.x + begin + 4, middle);
  }

  drawStretches(pen, palette, { kind, lane, top, height }) {
    const y = this.area.y + top;
    for (const each of lane[kind]) {
      const begin = this.x(each.start), wide = this.x(each.end) - begin;
      if (begin > this.area.x + this.area.width || begin + wide < this.area.x) continue;
      pen.fillStyle = palette.line;
      pen.fillRect(begin, y, wide > 3 ? wide - 1 : Math.max(wide, 0.5), height);
      const number = each.name.replace("layer ", ""), words = wide > each.name.length * DIGIT + 8 ? each.name : number;
      if (wide < words.length * DIGIT + 4) continue;
      pen.fillStyle = palette.text;
      pen.textAlign = "left";
      pen.textBaseline = "middle";
      pen.fillText(words, Math.max(begin, this.area.x) + 3, y + height / 2);
    }
  }

  drawSelected(pen, palette) {
    if (this.selected === null) return;
    const { lane, at } = this.spot(this.selected), y = this.area.y + lane.ops.top;
    const begin = this.x(lane.starts[at]), wide = Math.max(this.x(lane.ends[at]) - begin, 2);
    pen.strokeStyle = palette.text;
    pen.lineWidth = 2;
    pen.strokeRect(begin, y + 1, wide, lane.work.top + lane.work.height - lane.ops.top - 2);
  }

  // Where an op stands: its lane, and its place in it.
  spot(row) {
    return { lane: this.lanes[this.laneOf.get(content.ops.device[row])], at: this.placeIn[row] };
  }

  trackAt(offsetY) {
    const y = offsetY - this.area.y;
    return this.tracks.find(({ top, height }) => y < top + height) || this.tracks[this.tracks.length - 1];
  }

  nearest(offsetX, offsetY) {
    const { kind, lane } = this.trackAt(offsetY), x = this.valueAt(offsetX, offsetY).x;
    if (kind === "stages" || kind === "layers") {
      const each = lane[kind].find(({ end }) => x <= end);
      return each ? each.first : null;
    }
    return lane.rows[Math.max(lowerBound(lane.starts, x) - 1, 0)];
  }

  hint(offsetX, offsetY) {
    const { kind, lane } = this.trackAt(offsetY), x = this.valueAt(offsetX, offsetY).x;
    if (kind === "stages" || kind === "layers") {
      const each = lane[kind].find(({ start, end }) => start <= x && x <= end);
      return each ? `${each.name}\n${shown(each.ops)} ops, ${shown(Number((each.end - each.start).toFixed(3)), "us")}` : null;
    }
    if (x > lane.end) return null;
    const next = lowerBound(lane.starts, x), at = Math.max(next - 1, 0);
    if (x <= lane.ends[at] || next >= lane.rows.length) return this.brief(lane.rows[at]);
    return `gap of ${shown(lane.gaps[next], "us")} before\nline ${content.ops.op[lane.rows[next]]}: ${nameOfOp(lane.rows[next])}`;
  }

  brief(row) {
    return briefOfOp(row);
  }

  place(row) {
    const { lane, at } = this.spot(row);
    return { x: (lane.starts[at] + lane.ends[at]) / 2, y: 0.5 };
  }

  // Zooms in on the selected op so that its neighbours stay in sight.
  approach() {
    if (this.selected === null) return;
    const { lane, at } = this.spot(this.selected);
    const first = Math.max(at - NEIGHBOURS, 0), last = Math.min(at + NEIGHBOURS, lane.rows.length - 1);
    const start = lane.starts[first], span = Math.max(lane.ends[last] - start, (this.home.x1 - this.home.x0) * 1e-6);
    this.move("x", start - span * 0.02, Math.min(span * 1.04, this.home.x1 - this.home.x0));
    this.redraw();
  }

  step(by) {
    if (this.selected === null) return this.select(this.lanes[0].rows[0]);
    const { lane, at } = this.spot(this.selected);
    return this.select(lane.rows[Math.min(Math.max(at + by, 0), lane.rows.length - 1)]);
  }

  jump(by) {
    if (this.selected === null) return this.step(0);
    const place = this.laneOf.get(content.ops.device[this.selected]) + by;
    const lane = this.lanes[Math.min(Math.max(place, 0), this.lanes.length - 1)];
    const at = lowerBound(lane.starts, this.place(this.selected).x);
    return this.select(lane.rows[Math.max(at - 1, 0)]);
  }

  // The op, and the names of those on its sides.
  sentence(row) {
    const { lane, at } = this.spot(row);
    const side = (place) => (lane.rows[place] === undefined ? "nothing" : `${nameOfOp(lane.rows[place])} (line ${content.ops.op[lane.rows[place]]})`);
    return `${sentenceOfOp(row)} · after ${side(at - 1)}, before ${side(at + 1)}`;
  }
}
