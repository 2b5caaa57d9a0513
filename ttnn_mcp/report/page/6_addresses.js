// L1 of a bank by address: each buffer where it lay, the free holes between them, and what was asked where it ran out.
class Addresses extends Levels {
  constructor(figure) {
    super(figure);
    const { spans, bytes_of_bank: bank } = content.spans;
    this.spans = spans;
    this.bank = bank;
    this.byAddress = true;
    this.sums = this.home;
    this.failed = this.failure();
    const highest = this.failed ? Math.max(bank, this.failed.bottom + this.failed.asked) : bank;
    this.addresses = { ...this.home, y1: highest * 1.1 };
    this.home = this.addresses;
    this.view = { ...this.home };
  }

  swap() {
    this.byAddress = !this.byAddress;
    const { x0, x1 } = this.view;
    this.home = this.byAddress ? this.addresses : this.sums;
    this.view = { ...this.home, x0, x1 };
    this.redraw();
  }

  // The first operation that asked for more L1 than there was in one piece: for a tensor the asked bytes stand in the
  // largest hole, for circular buffers at the beginning.
  failure() {
    const failed = content.memory.errors[0];
    if (!failed || !/^L1 (for|between)/.test(failed.ran_out_of || "")) return null;
    const row = content.levels.operation.indexOf(failed.operation), asked = failed.asked_bytes;
    if (row < 0) return null;
    const largest = this.holes(row, 0).reduce((one, other) => (other.bytes > one.bytes ? other : one), { address: 0, bytes: 0 });
    const tensor = failed.ran_out_of.includes("tensor") && !failed.ran_out_of.includes("between");
    const room = failed.largest_free_bytes === undefined ? failed.limit_bytes : failed.largest_free_bytes;
    const words = `asked ${shown(asked, "B")}, ${tensor ? "largest hole" : "limit"} ${shown(room, "B")}`;
    return { row, asked, bottom: tensor ? largest.address : 0, words };
  }

  // The buffers of one operation, by address.
  at(row) {
    const { from, to, address } = this.spans, places = [];
    for (let place = 0; place < from.length; place += 1) if (from[place] <= row && row < to[place]) places.push(place);
    return places.sort((one, other) => address[one] - address[other]);
  }

  // The free pieces above `floor`.
  holes(row, floor) {
    const pieces = [];
    let reached = floor;
    const piece = (address) => { if (address > reached) pieces.push({ address: reached, bytes: address - reached }); };
    for (const place of this.at(row)) {
      piece(this.spans.address[place]);
      reached = Math.max(reached, this.spans.address[place] + this.spans.bytes_per_bank[place]);
    }
    piece(this.bank);
    return pieces;
  }

  draw(pen, palette) {
    if (!this.byAddress) {
      super.draw(pen, palette);
      return;
    }
    const { from, to, address, bytes_per_bank: bytes } = this.spans, { x0, x1 } = this.view;
    this.drawOperations(pen, palette, "L1: address in a bank");
    this.clipped(pen, () => {
      pen.fillStyle = palette.gap;
      pen.fillRect(this.x(0), this.y(this.bank), this.x(this.series.length) - this.x(0), this.y(0) - this.y(this.bank));
      pen.fillStyle = palette.dram;
      this.eachBar((row, left, wide) => {
        const high = content.levels.circular_buffers_bytes[row];
        pen.fillRect(left, this.y(high), wide > 3 ? wide - 1 : wide, this.y(0) - this.y(high));
      });
      pen.fillStyle = palette.compute;
      for (let place = 0; place < from.length; place += 1) {
        if (to[place] <= x0 || from[place] >= x1) continue;
        const left = this.x(from[place]), wide = this.x(to[place]) - left;
        const top = this.y(address[place] + bytes[place]), high = this.y(address[place]) - top;
        pen.fillRect(left, top, wide > 3 ? wide - 1 : Math.max(wide, 1), high > 3 ? high - 1 : Math.max(high, 0.5));
      }
      this.drawCapacity(pen, palette);
      if (this.peakRow >= 0) this.outline(pen, palette.text, this.peakRow, 1, "peak");
      if (this.selected !== null) this.outline(pen, palette.accent, this.selected, 2, "");
      this.drawFailure(pen, palette);
    });
    drawFocus(this, pen, palette);
  }

  outline(pen, colour, row, thick, label) {
    const left = this.x(row), wide = Math.max(this.x(row + 1) - left, 2);
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.strokeRect(left, this.area.y + 1, wide, this.area.height - 2);
    if (!label || this.failed) return;
    pen.fillStyle = colour;
    pen.textAlign = left + wide + 40 > this.area.x + this.area.width ? "right" : "left";
    pen.textBaseline = "bottom";
    pen.fillText(label, pen.textAlign === "left" ? left + wide + 4 : left - 4, this.y(0) - 4);
  }

  drawFailure(pen, palette) {
    if (!this.failed) return;
    const { row, asked, bottom, words } = this.failed;
    const left = this.x(row), wide = Math.max(this.x(row + 1) - left, 6), top = this.y(bottom + asked);
    pen.strokeStyle = palette.bad;
    pen.lineWidth = 3;
    pen.setLineDash([8, 4]);
    pen.strokeRect(left + 1.5, top, wide - 3, this.y(bottom) - top);
    pen.setLineDash([]);
    const wideWords = pen.measureText(words).width + 12, begin = Math.max(Math.min(left + wide / 2 - wideWords / 2, this.area.x + this.area.width - wideWords), this.area.x);
    pen.fillStyle = palette.bad;
    pen.fillRect(begin, top + 4, wideWords, 20);
    pen.fillStyle = palette.panel;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText(words, begin + 6, top + 14);
    this.figure.dataset.failed = words;
  }

  hint(offsetX, offsetY) {
    if (!this.byAddress) return super.hint(offsetX, offsetY);
    const row = this.nearest(offsetX, offsetY), address = this.valueAt(offsetX, offsetY).y, spans = this.spans;
    const place = this.at(row).find((each) => spans.address[each] <= address && address < spans.address[each] + spans.bytes_per_bank[each]);
    const operation = `operation ${content.levels.operation[row]}: ${cell(content.levels.name, row)}`;
    if (place !== undefined) return `${operation}\n${this.buffer(place)}`;
    const circular = content.levels.circular_buffers_bytes[row];
    if (address < circular) return `${operation}\ncircular buffers ${shown(circular, "B")}`;
    const hole = this.holes(row, circular).find((each) => each.address <= address && address < each.address + each.bytes);
    return hole ? `${operation}\nfree: ${shown(hole.bytes, "B")} in one piece` : operation;
  }

  buffer(place) {
    const { spans } = this, made = cell(spans.producer, place), line = cell(spans.line, place), tensor = cell(spans.tensor, place);
    const by = made === null ? "" : `\nmade by operation ${made}${line ? `, ${line}` : ""}`;
    const named = [tensor === null ? "a buffer without a name" : `tensor ${tensor}`, cell(spans.shape, place)].filter(Boolean).join(" ");
    return `${named}\n${shown(spans.bytes_per_bank[place], "B")} at address ${shown(spans.address[place])}${by}`;
  }

  sentence(row) {
    const largest = this.holes(row, content.levels.circular_buffers_bytes[row]).reduce((most, { bytes }) => Math.max(most, bytes), 0);
    return `${super.sentence(row)} · largest free piece ${shown(largest, "B")}`;
  }
}

// DRAM of a bank over the same operations.
class Dram extends Levels {
  constructor(figure) {
    super(figure);
    this.memory = "DRAM";
    this.series = content.spans.dram_bytes_per_bank;
    this.unit = { name: "MB", bytes: 1e6 };
    const highest = this.series.reduce((most, each) => Math.max(most, each), 1);
    const capacity = (content.memory.dram || {}).capacity_at_most_bytes_per_bank;
    this.capacity = capacity && capacity < 2 * highest ? capacity : null; // a far line would flatten the picture
    this.home = { ...this.home, y1: Math.max(highest, this.capacity || 0) * 1.25 };
    this.view = { ...this.home };
    this.peakRow = this.series.indexOf(highest);
  }

  bar(pen, palette, row, left, wide) {
    pen.fillStyle = palette.l1;
    pen.fillRect(left, this.y(this.series[row]), wide > 3 ? wide - 1 : wide, this.y(0) - this.y(this.series[row]));
  }

  sentence(row) {
    return `operation ${content.levels.operation[row]}: ${cell(content.levels.name, row)} · DRAM ${shown(this.series[row], "B")} per bank`;
  }
}
