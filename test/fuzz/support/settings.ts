import process from "node:process";
import { seedOfThisRun } from "../../support/seed.ts";

interface FuzzSettings {
  readonly seed: number;
  /** Rounds of new values for each property; 0: its corpus only. */
  readonly rounds: number;
  /** Rounds are added until this time has passed. */
  readonly milliseconds: number;
}

/** `LARES_SEED`, `LARES_ROUNDS`, `LARES_SECONDS`; outside the fuzz suite only the corpora are run. */
export function fuzzSettings(environment: NodeJS.ProcessEnv = process.env): FuzzSettings {
  const isFuzzing = environment["LARES_TEST"] === "fuzz";
  return {
    seed: seedOfThisRun(environment),
    rounds: isFuzzing ? wholeNumber(environment, "LARES_ROUNDS", 1) : 0,
    milliseconds: isFuzzing ? wholeNumber(environment, "LARES_SECONDS", 0) * 1000 : 0,
  };
}

function wholeNumber(environment: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const text = environment[name];
  if (text === undefined) return otherwise;
  if (!/^-?\d{1,10}$/.test(text)) throw new Error(`${name} is "${text}"; it must be a whole number.`);
  return Number(text);
}
