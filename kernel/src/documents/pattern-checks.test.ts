import { expect, test } from "vitest";
import { PatternBudget, patternFault } from "./pattern-checks.ts";

test("the patterns of one tool are checked up to a limit; known ones cost nothing", () => {
  const budget = new PatternBudget();
  expect(patternFault("known(", budget)).toMatch(/missing closing \)/);
  let looked = 0;
  // A pattern that is repeated counts as often as it stands for.
  while (patternFault(`(?=a{999})${looked}`, budget) !== null) looked++;
  expect(looked).toBe(1);
  expect(patternFault("x{999}y{999}(", budget)).toBeNull();
  expect(patternFault("known(", budget)).toMatch(/missing closing \)/);
  expect(patternFault("x{999}y(", new PatternBudget())).toMatch(/missing closing \)/);
});
