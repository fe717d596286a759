import { executableNodes, type ExpressionNode } from "./expression.ts";
import { inRange } from "./values.ts";

/**
 * The maximum cost of one evaluation of a filter, in steps. A string counts one step for every 64 characters, a list or
 * map the steps of its contents. Enough for a predicate over ten thousand tags; stops a filter that multiplies lists or
 * strings.
 */
const maxEvaluationSteps = 100_000;

/** Counts the steps of one evaluation at a time. */
export class Budget {
  #spent = 0;
  /** The costs of lists and maps already seen; additions to them were counted when they were made. */
  #weights = new WeakMap<object, number>();

  /** Charges every node of the expression for its result, and rejects results out of range. */
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
    // On its first run, the library replaces a node's `evaluate` by assigning to the property; the accessor stores what
    // is assigned and keeps charging.
    let inner = node.evaluate;
    const charged: ExpressionNode["evaluate"] = (evaluator, self, context) => {
      this.spend(0);
      const yielded = inner.call(node, evaluator, self, context);
      // The parser checks literals. It reads the smallest int as the negation of a number that itself is not an int.
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

// A single error object: quantifiers catch what their predicates throw and try the next element, so throwing has to be
// cheap.
const tooExpensive = new Error(`Evaluating the filter takes more than ${maxEvaluationSteps} steps.`);
