import fc from "fast-check";
import { expect, test } from "vitest";
import { corpusOf, keepInCorpus } from "./corpus.ts";
import { fuzzSettings } from "./settings.ts";

/** One property of one target. Its counterexamples are stored as values in `corpus/<target>/`. */
interface Campaign<Value> {
  readonly target: string;
  readonly property: string;
  readonly arbitrary: fc.Arbitrary<Value>;
  /** Runs of one round: about a second on a slow machine. */
  readonly runs: number;
  /** Throws, or returns false, if the property does not hold. `value` contains JSON values, byte arrays and bigints. */
  readonly check: (value: Value) => unknown;
}

/** The longest time for the rounds of one property besides `LARES_SECONDS`. */
const oneRoundMs = 600_000;

/**
 * Registers a property as a test: first the corpus, then rounds of new values. The smallest value of a failure is
 * written into the corpus, so that every later run begins with it.
 */
export function fuzz<Value>(campaign: Campaign<Value>): void {
  const { target, property, arbitrary, runs, check } = campaign;
  const { seed, rounds, milliseconds } = fuzzSettings();
  const known = corpusOf<Value>(target, property);
  for (const { file, value } of known)
    test(`${property}: ${file}`, async () => {
      expect(await check(value), "what the property answers").not.toBe(false);
    });
  if (rounds === 0) {
    // A file of properties without a corpus still reports that it was read.
    if (known.length === 0) test.skip(property);
    return;
  }
  // The last round begins before the time is over, and may take as long as a round without a limit.
  const timeoutMs = milliseconds + oneRoundMs;
  test(property, { timeout: timeoutMs }, async () => {
    const endsAt = performance.now() + milliseconds;
    let done = 0;
    for (let round = 0; round < rounds || performance.now() < endsAt; round++) {
      const roundSeed = (seed + round) | 0;
      const details = await fc.check(
        fc.asyncProperty(arbitrary, async (value) => await holds(check, value)),
        {
          seed: roundSeed,
          numRuns: runs,
        },
      );
      done += details.numRuns;
      if (!details.failed) continue;
      const [value] = details.counterexample ?? [];
      const file = value === undefined ? "nothing" : keepInCorpus(target, property, value);
      const report = await fc.asyncDefaultReportMessage(details);
      expect.fail(
        `${file} is in the corpus now. Repeat with: LARES_SEED=${roundSeed} npm run test:fuzz -- test/fuzz/${target}.test.ts -t ${JSON.stringify(property)}\n${report}\n${String(details.errorInstance)}`,
      );
    }
    console.log(`${target} › ${property}: ${done} runs`);
  });
}

async function holds<Value>(check: (value: Value) => unknown, value: Value): Promise<boolean> {
  return (await check(value)) !== false;
}
