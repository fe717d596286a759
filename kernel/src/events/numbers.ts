import type { Environment } from "@marcbachmann/cel-js";

const arithmetic: Readonly<Record<string, (one: number, other: number) => number>> = {
  "+": (one, other) => one + other,
  "-": (one, other) => one - other,
  "*": (one, other) => one * other,
  "/": (one, other) => one / other,
  "%": (one, other) => one % other,
};

/**
 * Makes `int` and `double` compatible in arithmetic, as CEL has them in comparisons. An event's numbers come from JSON,
 * so they are doubles, while whole numbers in a filter's text are ints: `event.count % 2 == 0` mixes both. The result
 * is a double unless both are ints.
 */
export function mixNumbers(environment: Environment): void {
  for (const [operator, compute] of Object.entries(arithmetic)) {
    const handler = (one: number | bigint, other: number | bigint) => compute(Number(one), Number(other));
    environment.registerOperator(`int ${operator} double: double`, handler);
    environment.registerOperator(`double ${operator} int: double`, handler);
  }
  // CEL has no remainder of doubles.
  environment.registerOperator("double % double: double", (one: number, other: number) => one % other);
}
