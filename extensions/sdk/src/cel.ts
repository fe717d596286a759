import { Environment, EvaluationError } from "@marcbachmann/cel-js";

/** The types of CEL that a variable may have; `dyn` is any. */
export type CelType = "string" | "int" | "double" | "bool" | "list" | "map" | "dyn";

/** A fault of an expression, or of the values that it was given. */
export class CelError extends Error {
  /** `syntax`, `type`, `no_such_key`, or `evaluation`. */
  readonly code: "syntax" | "type" | "no_such_key" | "evaluation";

  constructor(code: CelError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CelError";
    this.code = code;
  }
}

export interface CelExpression {
  /** The type of its result, such as `bool`; `dyn` if it depends on the values. */
  readonly type: string;
  /** Returns the result for these values of its variables. Numbers of the type `int` are `bigint`. Throws CelError. */
  evaluate(values: Readonly<Record<string, unknown>>): unknown;
}

/**
 * Compiles an expression in CEL, the language of `filter` in manifests, with the variables that it may use. Throws CelError
 * if it cannot be parsed, names another variable or does not fit the types.
 *
 *     const isLarge = compileCel("size > 1000 && name.endsWith('.pdf')", { size: "int", name: "string" });
 *     isLarge.evaluate({ size: 2000n, name: "a.pdf" }); // true
 */
export function compileCel(expression: string, variables: Readonly<Record<string, CelType>>): CelExpression {
  const environment = new Environment({ unlistedVariablesAreDyn: false });
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, type);
  let program: ReturnType<Environment["parse"]>;
  try {
    program = environment.parse(expression);
  } catch (error) {
    throw new CelError("syntax", firstLine(error), { cause: error });
  }
  const { valid, type, error } = program.check();
  if (!valid) throw new CelError("type", firstLine(error), { cause: error });
  return {
    type: type ?? "dyn",
    evaluate(values) {
      try {
        return program(values) as unknown;
      } catch (failure) {
        const isMissing = failure instanceof EvaluationError && failure.code === "no_such_key";
        throw new CelError(isMissing ? "no_such_key" : "evaluation", firstLine(failure), { cause: failure });
      }
    },
  };
}

/** The further lines show the place in the expression. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
