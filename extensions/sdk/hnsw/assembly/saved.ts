/**
 * A set as bytes, and back. Nothing in the bytes is trusted: whatever they are, no list leads out of the block, and
 * every loop over what was loaded ends.
 *
 *   0 magic | 4 checksum of all that follows | 8 length | 12 dimensions | 16 m | 20 efConstruction | 24 slots | 28 live
 *   32 entry | 36 random | then per slot: label, state; in use: twin; in the graph: its lists (count, slots) from
 *   level 0 up, and its vector (f32)
 *
 * All numbers are u32, little-endian.
 */
import { contains, dot, freeSlot, highestSlot, reach } from "./graph";
import {
  capacity,
  dimensions,
  efConstruction,
  entry,
  isGraph,
  labelAt,
  listOf,
  live,
  maxEf,
  maxLevel,
  neighbours,
  none,
  random,
  setEntry,
  setLive,
  setRandom,
  state,
  stateAt,
  top,
  twinAt,
  twinState,
  vectorAt,
  visitedAt,
} from "./layout";

const magic: u32 = 0x3156534c;
const headBytes: u32 = 40;

function checksum(from: usize, end: usize): u32 {
  // FNV-1a over words. Each step is invertible, so no single change goes unnoticed.
  let sum: u32 = 0x811c9dc5;
  for (; from < end; from += 4) sum = (sum ^ load<u32>(from)) * 0x01000193;
  return sum;
}

/** Writes the set to `to`; with 0, only counts the bytes. */
export function write(set: usize, to: usize): u32 {
  const vectorBytes = dimensions(set) << 2;
  let at: u32 = headBytes;
  for (let slot: u32 = 0, end = top(set); slot < end; slot++) {
    const slotState = state(set, slot);
    if (to) {
      store<u32>(to + at, load<u32>(labelAt(set, slot)));
      store<u32>(to + at, slotState, 4);
    }
    at += 8;
    if (slotState == 0) continue;
    if (to) store<u32>(to + at, load<u32>(twinAt(set, slot)));
    at += 4;
    if (slotState == twinState) continue;
    for (let level: u32 = 0; level < slotState; level++) {
      const list = listOf(set, slot, level);
      const bytes = (load<u32>(list) + 1) << 2;
      if (to) memory.copy(to + at, list, bytes);
      at += bytes;
    }
    if (to) memory.copy(to + at, vectorAt(set, slot), vectorBytes);
    at += vectorBytes;
  }
  if (to) {
    store<u32>(to, magic);
    store<u32>(to, at, 8);
    store<u32>(to, dimensions(set), 12);
    store<u32>(to, neighbours(set), 16);
    store<u32>(to, efConstruction(set), 20);
    store<u32>(to, top(set), 24);
    store<u32>(to, live(set), 28);
    store<u32>(to, entry(set), 32);
    store<u32>(to, random(set), 36);
    store<u32>(to, checksum(to + 8, to + at), 4);
  }
  return at;
}

/** Returns true if the header is complete and the bytes are not accidentally damaged. */
export function isWhole(from: usize, length: u32): bool {
  return (
    length >= headBytes &&
    (length & 3) == 0 &&
    load<u32>(from) == magic &&
    load<u32>(from, 8) == length &&
    load<u32>(from, 4) == checksum(from + 8, from + length)
  );
}

/** Reads into a new block with the dimensions and m of the bytes; false if they are malformed. */
export function read(set: usize, from: usize, length: u32): bool {
  const slots = load<u32>(from, 24);
  const ef = efConstruction(set);
  if (slots > capacity(set) || ef == 0 || ef > maxEf) return false;
  const used = readSlots(set, from + headBytes, from + length, slots);
  if (used == none || used != load<u32>(from, 28) || !isConsistent(set)) return false;
  setLive(set, used);
  setRandom(set, load<u32>(from, 36));
  const start = load<u32>(from, 32);
  const highest = highestSlot(set);
  // Any slot on the highest level.
  if (start != highest) {
    if (highest == none || start >= slots || state(set, start) != state(set, highest)) return false;
  }
  setEntry(set, start);
  return random(set) != 0;
}

/** Returns the number of used slots; `none` if the bytes are too short, too long, or contradictory. */
function readSlots(set: usize, at: usize, end: usize, slots: u32): u32 {
  const vectorBytes = dimensions(set) << 2;
  const m = neighbours(set);
  let used: u32 = 0;
  for (let slot: u32 = 0; slot < slots; slot++) {
    if (end - at < 8) return none;
    // While none is live, slots are assigned in order.
    setLive(set, slot);
    freeSlot(set, slots);
    store<u32>(labelAt(set, slot), load<u32>(at));
    const slotState = load<u32>(at, 4);
    at += 8;
    store<u32>(stateAt(set, slot), slotState);
    if (slotState == 0) continue;
    used++;
    if (end - at < 4) return none;
    store<u32>(twinAt(set, slot), load<u32>(at));
    at += 4;
    if (slotState == twinState) continue;
    if (slotState - 1 > maxLevel || reach(set, slot, slotState - 1) != slotState - 1) return none;
    for (let level: u32 = 0; level < slotState; level++) {
      if (end - at < 4) return none;
      const count = load<u32>(at);
      if (count > m << (level == 0 ? 1 : 0)) return none;
      const bytes = (count + 1) << 2;
      if (end - at < <usize>bytes) return none;
      memory.copy(listOf(set, slot, level), at, bytes);
      at += bytes;
    }
    if (end - at < <usize>vectorBytes) return none;
    memory.copy(vectorAt(set, slot), at, vectorBytes);
    at += vectorBytes;
  }
  return at == end ? used : none;
}

/** Links must lead to slots on that level, chains to twins, one each; vectors must have length 1. */
function isConsistent(set: usize): bool {
  const slots = top(set);
  const marks = visitedAt(set);
  let twins: u32 = 0;
  for (let slot: u32 = 0; slot < slots; slot++) {
    const slotState = state(set, slot);
    if (slotState == 0) continue;
    const twin = load<u32>(twinAt(set, slot));
    if (twin != none) {
      if (twin >= slots || state(set, twin) != twinState || load<u32>(marks + (twin << 2)) != 0) return false;
      store<u32>(marks + (twin << 2), 1);
      twins--;
    }
    if (slotState == twinState) {
      twins++;
      continue;
    }
    const vector = vectorAt(set, slot);
    const length = dot(set, vector, vector);
    // In this form the test also rejects NaN.
    if (!(length > 0.99 && length < 1.01)) return false;
    for (let level: u32 = 0; level < slotState; level++) {
      const list = listOf(set, slot, level);
      for (let index = load<u32>(list); index != 0; index--) {
        const other = load<u32>(list + (index << 2));
        if (other >= slots || other == slot || !isGraph(set, other, level)) return false;
        // Each slot must occur once: removing it would leave a second entry.
        if (contains(list, other) != index) return false;
      }
    }
  }
  memory.fill(marks, 0, slots << 2);
  return twins == 0;
}
