/**
 * A set of vectors is one block of memory that the caller brings, and everything in it is counted from the block's own
 * beginning: so it may lie anywhere, be copied, and be restored.
 *
 *   header | label, state, twin, upper: u32 each, per slot | visited: u32 per slot | records | upper lists | scratch
 *
 * A record is a slot's neighbours on level 0 and its vector; the few slots that reach higher levels have a chain of
 * upper lists, one per level. This file is AssemblyScript that TypeScript can parse: no decorators.
 */

export const maxDimensions: u32 = 4096;
export const maxCapacity: u32 = 1 << 20;
export const minM: u32 = 2;
export const maxM: u32 = 64;
/** The limit of efConstruction, ef and k. */
export const maxEf: u32 = 1000;
export const maxLevel: u32 = 15;
/** The limit of a block, so that sizes stay positive as i32. */
const maxBytes: u64 = 0x7fffffff;

export const none: u32 = 0xffffffff;
/**
 * The state of a slot: 0 if free; its level + 1; or `twin` if it equals a vector in the graph and is only in its
 * chain.
 */
export const twinState: u32 = 0x80000000;

const magic: u32 = 0x3157534c;
const headerBytes: u32 = 128;

export function dimensions(set: usize): u32 {
  return load<u32>(set, 4);
}
export function capacity(set: usize): u32 {
  return load<u32>(set, 8);
}
export function neighbours(set: usize): u32 {
  return load<u32>(set, 12);
}
export function efConstruction(set: usize): u32 {
  return load<u32>(set, 16);
}
/** The slots below this one are or were in use. */
export function top(set: usize): u32 {
  return load<u32>(set, 20);
}
export function setTop(set: usize, value: u32): void {
  store<u32>(set, value, 20);
}
export function live(set: usize): u32 {
  return load<u32>(set, 24);
}
export function setLive(set: usize, value: u32): void {
  store<u32>(set, value, 24);
}
export function entry(set: usize): u32 {
  return load<u32>(set, 28);
}
export function setEntry(set: usize, slot: u32): void {
  store<u32>(set, slot, 28);
}
export function random(set: usize): u32 {
  return load<u32>(set, 32);
}
export function setRandom(set: usize, value: u32): void {
  store<u32>(set, value, 32);
}
/** Returns the next number of a sequence that is the same for every set (xorshift, Marsaglia). */
export function roll(set: usize): u32 {
  let x = random(set);
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  setRandom(set, x);
  return x;
}

export function labelAt(set: usize, slot: u32): usize {
  return set + load<u32>(set, 40) + (slot << 2);
}
export function stateAt(set: usize, slot: u32): usize {
  return set + load<u32>(set, 44) + (slot << 2);
}
export function state(set: usize, slot: u32): u32 {
  return load<u32>(stateAt(set, slot));
}
/** The next slot with the same vector. */
export function twinAt(set: usize, slot: u32): usize {
  return set + load<u32>(set, 48) + (slot << 2);
}
/** The first of a slot's upper lists, or of the free ones. */
export function upperAt(set: usize, slot: u32): usize {
  return set + load<u32>(set, 52) + (slot << 2);
}
export function visitedAt(set: usize): usize {
  return set + load<u32>(set, 56);
}
export function record(set: usize, slot: u32): usize {
  return set + load<u32>(set, 60) + slot * recordBytes(set);
}
export function recordBytes(set: usize): u32 {
  return load<u32>(set, 64);
}
export function vectorAt(set: usize, slot: u32): usize {
  return record(set, slot) + 4 + (neighbours(set) << 3);
}
export function upper(set: usize, index: u32): usize {
  return set + load<u32>(set, 68) + index * upperBytes(neighbours(set));
}
/** Sorted candidates: similarity f32, slot u32. */
export function beam(set: usize): usize {
  return set + load<u32>(set, 72);
}
/** Room for one vector that the caller writes. */
export function input(set: usize): usize {
  return set + load<u32>(set, 76);
}
/** The vector that was searched or added last, with length 1. */
export function query(set: usize): usize {
  return set + load<u32>(set, 80);
}
/** The results of the last search: label u32, similarity f32. */
export function results(set: usize): usize {
  return set + load<u32>(set, 84);
}
/** The upper lists below this one are or were in use; then the number in use; then the first free one, or `none`. */
export const upperTopField: usize = 88;
export const upperUsedField: usize = 92;
export const upperFreeField: usize = 96;
export const epochField: usize = 36;

/** Next list u32, count u32, slots. */
function upperBytes(m: u32): u32 {
  return 8 + (m << 2);
}

/**
 * Returns how many upper lists this many slots may have, a quarter more than they have on average. It depends only
 * on the number of used slots, so a saved set always fits where it is loaded.
 */
export function upperLimit(slots: u32, m: u32): u32 {
  return slots / (m - 1) + slots / ((m - 1) << 2) + 16;
}

/** The slots of a level's neighbours: count u32, slots. */
export function listOf(set: usize, slot: u32, level: u32): usize {
  if (level == 0) return record(set, slot);
  let at = upper(set, load<u32>(upperAt(set, slot)));
  while (--level != 0) at = upper(set, load<u32>(at));
  return at + 4;
}

export function isGraph(set: usize, slot: u32, level: u32): bool {
  // A free slot and a twin are on no level.
  return <i32>state(set, slot) > <i32>level;
}

export function isSet(set: usize): bool {
  return load<u32>(set) == magic;
}

/**
 * Computes the layout of a block and writes its header if there is a block. Returns its size in bytes; 0 for
 * arguments out of bounds.
 */
export function layOut(set: usize, dims: u32, slots: u32, m: u32): u32 {
  if (dims - 1 >= maxDimensions || slots - 1 >= maxCapacity || m < minM || m > maxM) return 0;
  const recordSize = 4 + (m << 3) + (dims << 2);
  let at: u64 = headerBytes;
  const perSlot: u64 = (<u64>slots) << 2;
  let field: usize = 40;
  // label, state, twin, upper, visited
  while (field < 60) {
    if (set) store<u32>(set + field, <u32>at);
    at += perSlot;
    field += 4;
  }
  if (set) {
    store<u32>(set, <u32>at, 60);
    store<u32>(set, recordSize, 64);
  }
  at += <u64>slots * recordSize;
  if (set) store<u32>(set, <u32>at, 68);
  at += <u64>upperLimit(slots, m) * upperBytes(m);
  if (set) store<u32>(set, <u32>at, 72);
  at += (maxEf + 1) << 3;
  if (set) store<u32>(set, <u32>at, 76);
  at += dims << 2;
  if (set) store<u32>(set, <u32>at, 80);
  at += dims << 2;
  if (set) store<u32>(set, <u32>at, 84);
  at += maxEf << 3;
  return at > maxBytes ? 0 : <u32>at;
}

export function sign(set: usize): void {
  store<u32>(set, magic);
}
