import type { AnyNode, Identifier, Pattern } from "acorn";
import { keyOf, nodesOf, type Tree } from "./program-syntax.ts";

/** A place that reads a property of an object by its name: `hooks.name`, `hooks["name"]`, `const { name } = hooks`. */
export interface PropertyRead {
  /** The object, as it is written there. */
  readonly object: AnyNode;
  /** The property's name there. */
  readonly key: AnyNode;
  /** `{ name }`: the name of a variable as well. */
  readonly isShorthand: boolean;
}

/** Every such read of a property of this name, of whatever object. */
export function* readsOf(tree: Tree, name: string): Generator<PropertyRead> {
  for (const { node } of nodesOf(tree)) {
    if (node.type === "MemberExpression") {
      if (memberOf(node) === name) yield { object: node.object, key: node.property, isShorthand: false };
    } else if (node.type === "VariableDeclarator" && node.id.type === "ObjectPattern" && node.init) {
      for (const property of node.id.properties)
        if (property.type === "Property" && keyOf(property) === name)
          yield { object: node.init, key: property.key, isShorthand: property.shorthand };
    }
  }
}

/** Which property a member expression reads; null where it is computed. */
export function memberOf({ property, computed }: Pick<Member, "property" | "computed">): string | null {
  if (!computed) return property.type === "Identifier" ? property.name : null;
  return property.type === "Literal" && typeof property.value === "string" ? property.value : null;
}

type Member = Extract<AnyNode, { type: "MemberExpression" }>;

/** Names that one declaration in the whole file gives: wherever they stand they mean the same. */
export function namesDeclaredOnce(tree: Tree): ReadonlySet<string> {
  const once = new Set<string>();
  const often = new Set<string>();
  for (const { node } of nodesOf(tree))
    for (const pattern of declaredBy(node))
      for (const { name } of identifiersIn(pattern)) {
        if (once.has(name)) often.add(name);
        once.add(name);
      }
  return once.difference(often);
}

function declaredBy(node: AnyNode): readonly Pattern[] {
  switch (node.type) {
    case "VariableDeclarator":
      return [node.id];
    case "FunctionDeclaration":
    case "FunctionExpression":
      return node.id ? [node.id, ...node.params] : node.params;
    case "ArrowFunctionExpression":
      return node.params;
    case "ClassDeclaration":
    case "ClassExpression":
      return node.id ? [node.id] : [];
    case "CatchClause":
      return node.param ? [node.param] : [];
    case "ImportSpecifier":
    case "ImportDefaultSpecifier":
    case "ImportNamespaceSpecifier":
      return [node.local];
    default:
      return [];
  }
}

/** The variables of a pattern. Not recursive: patterns lie in patterns as deep as somebody writes. */
function* identifiersIn(pattern: Pattern): Generator<Identifier> {
  const waiting: (Pattern | null)[] = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === null) continue;
    if (next.type === "Identifier") yield next;
    else if (next.type === "AssignmentPattern") waiting.push(next.left);
    else if (next.type === "RestElement") waiting.push(next.argument);
    else if (next.type === "ArrayPattern") waiting.push(...next.elements);
    else if (next.type === "ObjectPattern")
      waiting.push(...next.properties.map((each) => (each.type === "Property" ? each.value : each)));
  }
}
