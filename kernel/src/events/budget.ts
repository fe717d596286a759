import { executableNodes, type ExpressionNode } from "./expression.ts";
import { inRange } from "./values.ts";

/**
 * What one evaluation of a filter may cost: steps, where a string counts a step for every 64 characters
 * and a list or map what it holds. Enough for a predicate over ten thousand tags; a filter that
 * multiplies lists or strings ends here.
 */
export const maxEvaluationSteps = 100_000;

/** Counts the steps of one evaluation at a time. */
export class Budget {
  #spent = 0;
  /** Weights of lists and maps already seen: what is added to one later was counted when it was made. */
  #weights = new WeakMap<object, number>();

  /** Makes every node of the expression pay for what it yields, and refuses values out of range. */
  constructor(root: ExpressionNode) {
    for (const node of executableNodes(root)) this.#charge(node);
  }

  get exhausted(): boolean {
    return this.#spent > maxEvaluationSteps;
  }

  reset(): void {
    this.#spent = 0;
    this.#weights = new WeakMap();
  }

  /** Throws once the evaluation has cost too much, and from then on at every step, so that it unwinds. */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.exhausted) throw tooExpensive;
  }

  #charge(node: ExpressionNode): void {
    // The library resolves a node's evaluation at its first run by assigning over the property; the
    // accessor keeps what it assigns and stays in front of it.
    let inner = node.evaluate;
    const charged: ExpressionNode["evaluate"] = (evaluator, self, context) => {
      this.spend(0);
      const yielded = inner.call(node, evaluator, self, context);
      // The parser has bounded literals. It reads the least int as the negation of a number that is itself not an int.
      const value = node.op === "value" ? yielded : inRange(yielded);
      this.spend(1 + this.#weight(value));
      return value;
    };
    Object.defineProperty(node, "evaluate", {
      get: () => charged,
      set: (assigned: ExpressionNode["evaluate"]) => {
        inner = assigned;
      },
    });
  }

  #weight(value: unknown): number {
    if (typeof value === "string") return value.length >> 6;
    if (typeof value !== "object" || value === null) return 0;
    const known = this.#weights.get(value);
    if (known !== undefined) return known;
    let weight = 0;
    for (const item of Array.isArray(value) ? value : Object.values(value)) weight += 1 + this.#weight(item);
    this.#weights.set(value, weight);
    return weight;
  }
}

// One error for all: quantifiers catch what their predicates throw and try the next element, so it has to be cheap.
const tooExpensive = new Error(`Evaluating the filter takes more than ${maxEvaluationSteps} steps.`);
