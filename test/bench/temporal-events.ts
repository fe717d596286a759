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
 * The same events each time: one a second, ten variants, eight words each out of five thousand, some of which are
 * frequent (`word0` stands in most events) and most rare.
 */
export function* benchEvents(count: number): Generator<BenchEvent> {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const one = (values: readonly string[], skew = 1): string =>
    values[Math.floor(values.length * random() ** skew)] ?? "";
  for (let row = 1; row <= count; row++) {
    yield {
      row,
      id: `01900000-0000-7000-8000-${row.toString(16).padStart(12, "0")}`,
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
