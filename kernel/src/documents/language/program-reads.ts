import type { AnyNode } from "acorn";
import { keyOf, nodesOf, type Tree } from "./program-syntax.ts";

/** A property access by name: `hooks.name`, `hooks["name"]`, `const { name } = hooks`. */
interface PropertyRead {
  /** The object as written. */
  readonly object: AnyNode;
  /** The property's name in the source. */
  readonly key: AnyNode;
  /** The variable that receives the value, for a destructuring pattern. */
  readonly variable: AnyNode | null;
}

/** Returns every access to a property with this name, on any object. */
export function* readsOf(tree: Tree, name: string): Generator<PropertyRead> {
  for (const { node } of nodesOf(tree)) {
    if (node.type === "MemberExpression") {
      if (memberOf(node) === name) yield { object: node.object, key: node.property, variable: null };
    } else if (node.type === "VariableDeclarator" && node.id.type === "ObjectPattern" && node.init) {
      for (const property of node.id.properties)
        if (property.type === "Property" && keyOf(property) === name)
          yield { object: node.init, key: property.key, variable: property.value };
    }
  }
}

/** Returns the property that a member expression reads; null if it is computed. */
export function memberOf({ property, computed }: Pick<Member, "property" | "computed">): string | null {
  if (!computed) return property.type === "Identifier" ? property.name : null;
  return property.type === "Literal" && typeof property.value === "string" ? property.value : null;
}

type Member = Extract<AnyNode, { type: "MemberExpression" }>;
