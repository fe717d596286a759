import type { AnyNode, ObjectExpression, Property } from "acorn";
import type { Extent } from "./extents.ts";
import { memberOf, readsOf } from "./program-reads.ts";
import {
  defaultExport,
  exportedAs,
  isReference,
  keyOf,
  nodesOf,
  propertyOf,
  topBindings,
  type Binding,
  type Tree,
} from "./program-syntax.ts";

/** Characters of a program's file that is looked into: what is written to take long takes some seconds at most. */
export const maxProgramCharacters = 128 * 1024;
/** Properties of records that are looked at for handlers, those of spread records counted each time. */
export const maxProperties = 2000;

/** A program as JavaScript, no variable of which hides another, and where each place of that was written. */
export interface CompiledProgram {
  readonly code: string;
  /** Offset in the source of a line (from 1) and a column (from 0) of `code`; null where nothing was. */
  readonly sourceOffset: (line: number, column: number) => number | null;
}

export type HandlerKind = "hooks" | "tools";

/** One handler of a program. */
export interface HandlerDeclaration {
  readonly name: string;
  /** Its name among the handlers, quotes included. */
  readonly key: Extent;
  readonly isShorthand: boolean;
  /** The function itself, where it is written elsewhere in the same file: its name there. */
  readonly declared: Extent | null;
  /** Where it comes from another file. */
  readonly imported: { readonly from: string; readonly name: string } | null;
}

/** What can be known of a program without running it. */
export interface ProgramOutline {
  readonly handlers: Readonly<Record<HandlerKind, readonly HandlerDeclaration[]>>;
  /** Whether these are all of them: nothing is computed, or comes from elsewhere. */
  readonly isComplete: Readonly<Record<HandlerKind, boolean>>;
  /** Where a name that other files import is declared. */
  readonly exported: (name: string) => Extent | null;
  /**
   * All places that name this top-level declaration; null where renaming it here would not be all there is to do: it
   * is exported, another thing has the name (a second short form too), or a type or a comment speaks of it.
   */
  readonly references: (name: string) => readonly Extent[] | null;
  /** All places outside the record that read a handler from it, where it is plain to see: `hooks.name` and its like. */
  readonly reads: (kind: HandlerKind, name: string) => readonly HandlerRead[];
}

/** A place that names a handler of a record; quotes included. `isShorthand`: of the variable it is given to, too. */
export interface HandlerRead extends Extent {
  readonly isShorthand: boolean;
}

/** Reads a program's handlers. SyntaxError where it is not JavaScript. */
export async function readProgram(source: string, compiled: CompiledProgram): Promise<ProgramOutline> {
  // Loaded when somebody first asks for a program.
  const { parse } = await import("acorn");
  const tree: Tree = parse(compiled.code, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const program = new ProgramReader(source, compiled, tree);
  const hooks = program.handlers("hooks");
  const tools = program.handlers("tools");
  return {
    handlers: { hooks: hooks.found, tools: tools.found },
    isComplete: { hooks: hooks.isComplete, tools: tools.isComplete },
    exported: (name) => program.exported(name),
    references: (name) => program.references(name),
    reads: (kind, name) => program.reads(kind, name),
  };
}

class ProgramReader {
  readonly #source: string;
  readonly #compiled: CompiledProgram;
  readonly #tree: Tree;
  readonly #bindings: ReadonlyMap<string, Binding>;
  /** What the program exports. */
  #agent: ObjectExpression | null = null;
  /** The records themselves, those that are spread into them included. */
  readonly #recordsOf: Record<HandlerKind, Set<ObjectExpression>> = { hooks: new Set(), tools: new Set() };
  #propertiesLeft = 0;
  /** A function stood between what is written and what there is. */
  #isAltered = false;

  constructor(source: string, compiled: CompiledProgram, tree: Tree) {
    this.#source = source;
    this.#compiled = compiled;
    this.#tree = tree;
    this.#bindings = topBindings(tree);
  }

  handlers(kind: HandlerKind): { found: HandlerDeclaration[]; isComplete: boolean } {
    this.#isAltered = false;
    const agent = this.#object(defaultExport(this.#tree));
    this.#agent = agent;
    if (agent === null) return { found: [], isComplete: false };
    const property = propertyOf(agent, kind);
    const isWhole = agent.properties.every((each) => each.type === "Property" && keyOf(each) !== null);
    if (property === null) return { found: [], isComplete: isWhole && !this.#isAltered };
    const record = this.#object(property.value);
    if (record === null) return { found: [], isComplete: false };
    this.#propertiesLeft = maxProperties;
    const { found, isComplete } = this.#records(kind, record, 0);
    return { found, isComplete: isComplete && isWhole && !this.#isAltered };
  }

  /** The handlers of a record, and of those that are spread into it. */
  #records(
    kind: HandlerKind,
    record: ObjectExpression,
    depth: number,
  ): { found: HandlerDeclaration[]; isComplete: boolean } {
    this.#recordsOf[kind].add(record);
    const found: HandlerDeclaration[] = [];
    let isComplete = true;
    for (const property of record.properties) {
      if (--this.#propertiesLeft < 0) return { found, isComplete: false };
      if (property.type === "Property") {
        const declaration = this.#handler(property);
        if (declaration === null) isComplete = false;
        else found.push(declaration);
        continue;
      }
      const spread = depth < maxSpreads ? this.#object(property.argument) : null;
      const inner =
        spread === null ? { found: [], isComplete: false } : this.#records(kind, spread, depth + 1);
      found.push(...inner.found);
      isComplete &&= inner.isComplete;
    }
    return { found, isComplete };
  }

  #handler(property: Property): HandlerDeclaration | null {
    const name = keyOf(property);
    const key = name === null ? null : this.#place(property.key, name);
    if (name === null || key === null) return null;
    const { value } = property;
    const binding = value.type === "Identifier" ? this.#bindings.get(value.name) : undefined;
    return {
      name,
      key,
      isShorthand: property.shorthand,
      declared: binding?.kind === "declared" ? this.#place(binding.id, binding.id.name) : null,
      imported: binding?.kind === "imported" ? { from: binding.from, name: binding.name } : null,
    };
  }

  /** The object that an expression is: written there, named there, or given to a function such as `defineAgent`. */
  #object(node: AnyNode | null, depth = 0): ObjectExpression | null {
    if (node === null || depth > maxSpreads) return null;
    if (node.type === "ObjectExpression") return node;
    if (node.type === "CallExpression") {
      this.#isAltered ||= !this.#isDefineAgent(node.callee);
      return this.#object(node.arguments[0] ?? null, depth + 1);
    }
    if (node.type !== "Identifier") return null;
    const binding = this.#bindings.get(node.name);
    return binding?.kind === "declared" ? this.#object(binding.value, depth + 1) : null;
  }

  /** The SDK's function gives back what it is given; what another one adds or takes is not known. */
  #isDefineAgent(callee: AnyNode): boolean {
    const binding = callee.type === "Identifier" ? this.#bindings.get(callee.name) : undefined;
    return binding?.kind === "imported" && binding.from === "@lares/sdk" && binding.name === "defineAgent";
  }

  exported(name: string): Extent | null {
    const local = exportedAs(this.#tree).get(name) ?? name;
    const binding = this.#bindings.get(local);
    return binding?.kind === "declared" ? this.#place(binding.id, local) : null;
  }

  references(name: string): Extent[] | null {
    const binding = this.#bindings.get(name);
    if (binding?.kind !== "declared" || binding.isExported) return null;
    const places: Extent[] = [];
    let shortForms = 0;
    for (const found of nodesOf(this.#tree)) {
      if (!isReference(found) || found.node.name !== name) continue;
      const place = this.#place(found.node, name);
      if (place === null) return null;
      places.push(place);
      if (found.parent?.type === "Property" && found.parent.shorthand) shortForms++;
    }
    // A second short form is another property, which keeps its name.
    return shortForms <= 1 && places.length === countWords(this.#source, name) ? places : null;
  }

  reads(kind: HandlerKind, name: string): HandlerRead[] {
    const places: HandlerRead[] = [];
    for (const { object, key, variable } of readsOf(this.#tree, name)) {
      const place = this.#isRecord(object, kind) ? this.#place(key, name) : null;
      // What was compiled may say `{ name: name2 }` for it.
      const isShorthand = variable !== null && this.#sourceStart(variable) === place?.start;
      if (place !== null) places.push({ ...place, isShorthand });
    }
    return places;
  }

  /** Whether an expression is a record of handlers: `hooks`, or `agent.hooks`. */
  #isRecord(node: AnyNode, kind: HandlerKind): boolean {
    const isMember = node.type === "MemberExpression" && memberOf(node) === kind;
    const name = isMember ? node.object : node;
    // A variable further in that has the same name has another one in what was compiled.
    const object = name.type === "Identifier" ? this.#object(name) : null;
    if (object === null) return false;
    return isMember ? object === this.#agent : this.#recordsOf[kind].has(object);
  }

  /** Where a name was written in the source; null where something else stands there. */
  #place(node: AnyNode, name: string): Extent | null {
    const start = this.#sourceStart(node);
    if (start === null) return null;
    if (this.#source.startsWith(name, start)) return { start, end: start + name.length };
    const quote = this.#source.charAt(start);
    const end = /["'`]/.test(quote) ? this.#source.indexOf(quote, start + 1) : -1;
    return end < 0 ? null : { start, end: end + 1 };
  }

  #sourceStart({ loc }: AnyNode): number | null {
    return loc ? this.#compiled.sourceOffset(loc.start.line, loc.start.column) : null;
  }
}

/** Names that lead to names: as many as people write, and no circle. */
const maxSpreads = 8;

/** How often a name stands in a text as a word of its own, wherever. */
function countWords(text: string, name: string): number {
  const isPart = (character: string): boolean => /[\p{ID_Continue}$\u200c\u200d]/u.test(character);
  let count = 0;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    if (!isPart(text.charAt(at - 1)) && !isPart(text.charAt(at + name.length))) count++;
  }
  return count;
}
