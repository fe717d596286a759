/** A short event, as agents append them by the million. */
export interface BenchEvent {
  readonly row: number;
  readonly id: string;
  readonly variant: string;
  readonly timestampMs: number;
  readonly data: {
    readonly city: string;
    readonly level: number;
    readonly note: string;
    readonly ok: boolean;
    readonly user: string;
  };
}

export const firstMs = Date.parse("2026-01-01T00:00:00Z");
const cities = ["vienna", "graz", "linz", "salzburg"];
const vocabulary = Array.from({ length: 5000 }, (_, n) => `word${n.toString(36)}`);

/**
 * Yields the same events each time: one a second, ten variants, eight words each out of five thousand, some of which
 * are frequent (`word0` occurs in most events) and most rare.
 */
export function* benchEvents(count: number): Generator<BenchEvent> {
  const random = randomFrom(1);
  const one = oneBy(random);
  for (let row = 1; row <= count; row++) {
    yield {
      row,
      id: idOf(row),
      variant: `variant${row % 10}`,
      timestampMs: firstMs + row * 1000,
      data: {
        city: one(cities),
        level: Math.floor(random() * 100),
        note: `${Array.from({ length: 8 }, () => one(vocabulary, 4)).join(" ")}${row % 50_000 === 7 ? " needle" : ""}`,
        ok: random() < 0.5,
        user: `user${Math.floor(random() * 1000)}`,
      },
    };
  }
}

/** An item of knowledge; every tenth is related to one before it. */
export interface BenchItem {
  readonly id: string;
  readonly text: string;
  readonly relatedTo: string | null;
}

/** Yields the same items each time: twelve words each, most of them frequent ones. */
export function* benchItems(count: number): Generator<BenchItem> {
  const random = randomFrom(2);
  const one = oneBy(random);
  for (let row = 1; row <= count; row++) {
    const text = Array.from({ length: 12 }, () => one(vocabulary, 3)).join(" ");
    const related = Math.ceil(random() * (row - 1));
    yield { id: idOf(row), text, relatedTo: row % 10 === 0 ? idOf(related) : null };
  }
}

/** Yields queries with four words of an item and two others, and the item. */
export function benchQuestions(
  items: number,
  count: number,
): { readonly text: string; readonly id: string }[] {
  const random = randomFrom(3);
  const one = oneBy(random);
  const asked = new Set(Array.from({ length: count }, () => Math.ceil(random() * items)));
  const questions: { text: string; id: string }[] = [];
  let row = 0;
  for (const { id, text } of benchItems(items)) {
    if (!asked.has(++row)) continue;
    const words = text.split(" ");
    const own = [0, 3, 6, 9].map((at) => words[at] ?? "");
    questions.push({ text: [...own, one(vocabulary, 3), one(vocabulary, 3)].join(" "), id });
  }
  return questions;
}

const idOf = (row: number): string => `01900000-0000-7000-8000-${row.toString(16).padStart(12, "0")}`;

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const oneBy =
  (random: () => number) =>
  (values: readonly string[], skew = 1): string =>
    values[Math.floor(values.length * random() ** skew)] ?? "";
