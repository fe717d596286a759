import type { Environment } from "@marcbachmann/cel-js";

/**
 * A node of a parsed expression as cel-js builds it. `check`, `evaluate` and `handle` are not in the library's types;
 * tests check that replacing them takes effect, so an update of the library that moves them fails.
 */
export interface ExpressionNode {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
  check: (checker: Checker, node: unknown, context: unknown) => ExpressionType;
  evaluate: (evaluator: Evaluator, node: unknown, context: unknown) => unknown;
  /** Set after the check. */
  readonly checkedType?: ExpressionType;
  /** Applies a checked operator to its operands. */
  readonly handle?: (left: unknown, right: unknown, node: unknown, evaluator: Evaluator) => unknown;
  readonly meta: { readonly alternate?: unknown; readonly macro?: unknown };
}

/** A type of the library, for example `list<dyn>`. */
interface ExpressionType {
  readonly name: string;
}

interface Checker {
  readonly getType: (name: string) => ExpressionType;
}

interface Evaluator {
  readonly run: (node: unknown, context: unknown) => unknown;
}

/** A call with its name and, for a method, its receiver. */
export interface Call {
  readonly node: ExpressionNode;
  readonly name: string;
  readonly receiver: ExpressionNode | undefined;
  readonly arguments: readonly ExpressionNode[];
}

export type ParsedFilter = ReturnType<Environment["parse"]>;

export function rootOf(parsed: ParsedFilter): ExpressionNode {
  return parsed.ast as unknown as ExpressionNode;
}

/** Returns all nodes as written, outermost first. */
export function writtenNodes(root: ExpressionNode): ExpressionNode[] {
  return reachable(root, (node) => [node.args]);
}

/** Returns all nodes that evaluation may run, including the expansions of macros. */
export function executableNodes(root: ExpressionNode): ExpressionNode[] {
  return reachable(root, (node) => [node.args, node.meta.alternate, node.meta.macro]);
}

export function callOf(node: ExpressionNode): Call | undefined {
  if (node.op !== "call" && node.op !== "rcall") return undefined;
  const parts = node.args as readonly unknown[];
  const [name, receiver, list] = node.op === "call" ? [parts[0], undefined, parts[1]] : parts;
  return {
    node,
    name: String(name),
    receiver: isNode(receiver) ? receiver : undefined,
    arguments: Array.isArray(list) ? list.filter(isNode) : [],
  };
}

function isNode(value: unknown): value is ExpressionNode {
  return typeof value === "object" && value !== null && "op" in value && "meta" in value && "start" in value;
}

function reachable(root: ExpressionNode, next: (node: ExpressionNode) => unknown[]): ExpressionNode[] {
  const nodes: ExpressionNode[] = [];
  const seen = new Set<object>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    if (isNode(value)) {
      nodes.push(value);
      next(value).forEach(visit);
    } else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) {
      Object.values(value).forEach(visit);
    }
  };
  visit(root);
  return nodes;
}
