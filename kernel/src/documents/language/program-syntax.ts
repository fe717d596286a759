import type { AnyNode, Identifier, ImportDeclaration, ObjectExpression, Program, Property } from "acorn";

/** The parts of a program's syntax tree that its outline and a rename use. */
export type Tree = Program;

export interface Found<Kind extends AnyNode = AnyNode> {
  readonly node: Kind;
  readonly parent: AnyNode | null;
  /** The parent's field that contains the node. */
  readonly field: string;
}

/** Yields this node and all its descendants in text order. Not recursive: `a.b.c…` nests as deeply as it is long. */
export function* nodesOf(root: AnyNode): Generator<Found> {
  const waiting: Found[] = [{ node: root, parent: null, field: "" }];
  for (let found = waiting.pop(); found !== undefined; found = waiting.pop()) {
    yield found;
    const { node } = found;
    const children: Found[] = [];
    for (const [field, value] of Object.entries(node) as [string, unknown][]) {
      for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (isNode(child)) children.push({ node: child, parent: node, field });
      }
    }
    for (const child of children.toReversed()) waiting.push(child);
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** The meaning of a top-level name: its declaration or its import. */
export type Binding =
  | {
      readonly kind: "declared";
      readonly id: Identifier;
      readonly value: AnyNode;
      readonly isExported: boolean;
    }
  | { readonly kind: "imported"; readonly id: Identifier; readonly from: string; readonly name: string };

/** Returns the names declared at the top of the file. */
export function topBindings(tree: Tree): Map<string, Binding> {
  const found = new Map<string, Binding>();
  const exported = exportedNames(tree);
  for (const statement of tree.body) {
    if (statement.type === "ImportDeclaration") addImports(statement, found);
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declaration === null || declaration === undefined) continue;
    const add = (id: Identifier, value: AnyNode): void =>
      void found.set(id.name, {
        kind: "declared",
        id,
        value,
        isExported: declaration !== statement || exported.has(id.name),
      });
    if (declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration")
      add(declaration.id, declaration);
    if (declaration.type !== "VariableDeclaration") continue;
    for (const { id, init } of declaration.declarations)
      if (id.type === "Identifier" && init !== null && init !== undefined) add(id, init);
  }
  return found;
}

function addImports({ specifiers, source }: ImportDeclaration, found: Map<string, Binding>): void {
  for (const specifier of specifiers) {
    if (specifier.type === "ImportNamespaceSpecifier") continue;
    const name = specifier.type === "ImportDefaultSpecifier" ? "default" : nameOf(specifier.imported);
    const { local: id } = specifier;
    found.set(id.name, { kind: "imported", id, from: String(source.value), name });
  }
}

/** Maps each local name in the file's own `export { a as b }` to its exported name. */
function exportedAs(tree: Tree): Map<string, string> {
  const found = new Map<string, string>();
  for (const statement of tree.body) {
    if (statement.type !== "ExportNamedDeclaration" || typeof statement.source?.value === "string") continue;
    for (const { local, exported } of statement.specifiers) found.set(nameOf(exported), nameOf(local));
  }
  return found;
}

/** Returns the files that are re-exported completely: `export * from`. */
export function starsOf(tree: Tree): string[] {
  return tree.body.flatMap((statement) =>
    statement.type === "ExportAllDeclaration" && !statement.exported ? [String(statement.source.value)] : [],
  );
}

function exportedNames(tree: Tree): Set<string> {
  return new Set(exportedAs(tree).values());
}

/** Returns what is exported under this name: an expression, or a local name. */
export function exportOf(tree: Tree, name: string): AnyNode | string | null {
  for (const statement of tree.body)
    if (statement.type === "ExportDefaultDeclaration" && name === "default") return statement.declaration;
  return exportedAs(tree).get(name) ?? null;
}

/** Returns the object's literal property with this name. */
export function propertyOf(object: ObjectExpression, name: string): Property | null {
  for (const property of object.properties)
    if (property.type === "Property" && keyOf(property) === name) return property;
  return null;
}

/** Returns the key as text; null if it is computed. */
export function keyOf({ key, computed }: Pick<Property, "key" | "computed">): string | null {
  if (key.type === "Literal" && typeof key.value === "string") return key.value;
  return key.type === "Identifier" && !computed ? key.name : null;
}

function nameOf(node: { readonly type: string; readonly name?: string; readonly value?: unknown }): string {
  return node.name ?? String(node.value);
}

/** True for an identifier that names a variable, not a property, a label or another file's export. */
export function isReference(found: Found): found is Found<Identifier> {
  const { node, parent, field } = found;
  if (node.type !== "Identifier" || parent === null) return false;
  if (parent.type === "MemberExpression") return field === "object" || parent.computed;
  if (parent.type === "ImportSpecifier" || parent.type === "ExportSpecifier") return field === "local";
  if (
    parent.type === "Property" ||
    parent.type === "MethodDefinition" ||
    parent.type === "PropertyDefinition"
  )
    return field === "value" || parent.computed;
  return !["LabeledStatement", "BreakStatement", "ContinueStatement"].includes(parent.type);
}
