// A colour and a dash for each arm that is shown, kept as long as it is shown. Okabe and Ito's palette, without its yellow.
const SLOTS = 6;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2]];

export class Palette {
  slots = new Map();

  assign(ids) {
    for (const id of [...this.slots.keys()]) if (!ids.includes(id)) this.slots.delete(id);
    const taken = new Set(this.slots.values());
    for (const id of ids) {
      if (this.slots.has(id)) continue;
      const free = [...Array(SLOTS).keys()].find((slot) => !taken.has(slot));
      if (free === undefined) continue;
      taken.add(free);
      this.slots.set(id, free);
    }
  }

  name = (id) => (this.slots.has(id) ? `--arm-${this.slots.get(id)}` : "--grey");
  mark = (id) => `mark mark-${this.slots.has(id) ? this.slots.get(id) : "none"}`;
  dash = (id) => DASHES[this.slots.get(id) ?? 5];
}
