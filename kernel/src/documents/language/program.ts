import type { AnyNode, ObjectExpression, Property } from "acorn";
import type { Extent } from "../fixes/extents.ts";
import { countWords, placesOfName, type NamePlace } from "./program-names.ts";
import { memberOf, readsOf } from "./program-reads.ts";
import {
  exportOf,
  isReference,
  keyOf,
  nodesOf,
  propertyOf,
  starsOf,
  topBindings,
  type Binding,
  type Tree,
} from "./program-syntax.ts";

/** Characters of a program's file that is looked into: what is written to take long takes some seconds at most. */
export const maxProgramCharacters = 128 * 1024;
/** Properties of records that are looked at for handlers, those of spread records counted each time. */
const maxProperties = 2000;

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
  /** The function itself, where it is written elsewhere in the same file, also under another name: its name there. */
  readonly declared: Extent | null;
  /** Where it comes from another file. */
  readonly imported: Imported | null;
}

/** What another file exports by this name; `from` as it is written. */
export interface Imported {
  readonly from: string;
  readonly name: string;
}

/** Handlers that one file has, and where more of them are. */
interface HandlersInFile {
  readonly found: readonly HandlerDeclaration[];
  /** Whether these are all, with those of the files that are named here. */
  readonly isComplete: boolean;
  readonly elsewhere: readonly (Imported & { readonly what: HandlerHolder })[];
}

/** What is exported: a whole agent, or one of its records of handlers. */
export type HandlerHolder = "agent" | "record";

/** What can be known of a program without running it. */
export interface ProgramOutline {
  readonly handlers: Readonly<Record<HandlerKind, readonly HandlerDeclaration[]>>;
  /** Whether these are all of them: nothing is computed, or comes from elsewhere. */
  readonly isComplete: Readonly<Record<HandlerKind, boolean>>;
  /** The handlers of what this file exports, for those who import it. */
  readonly handlersOf: (exported: string, what: HandlerHolder, kind: HandlerKind) => HandlersInFile;
  /** Where a name that other files import is declared, or comes from. */
  readonly exported: (name: string) => { readonly declared: Extent } | { readonly imported: Imported } | null;
  /** What is exported by a name has this one here. */
  readonly exportedAs: (name: string) => string | null;
  /** What the file imports under this name. */
  readonly importedAs: (name: string) => Imported | null;
  /** Files of which everything is exported again. */
  readonly stars: readonly string[];
  /** All places that speak of a name that is imported or exported, each of which is to change with it; null in doubt. */
  readonly placesOf: (name: string) => readonly NamePlace[] | null;
  /**
   * All places that name this top-level declaration; null where renaming it here would not be all there is to do: it
   * is exported, another thing has the name (a second short form too), or a type or a comment speaks of it.
   */
  readonly references: (name: string) => readonly Extent[] | null;
  /** All places outside the record that read a handler from it, where it is plain to see: `hooks.name` and its like. */
  readonly reads: (kind: HandlerKind, name: string) => readonly HandlerRead[];
}

/** A place that names a handler of a record; quotes included. `isShorthand`: of the variable it is given to, too. */
interface HandlerRead extends Extent {
  readonly isShorthand: boolean;
}

/** Reads a program's handlers. SyntaxError where it is not JavaScript. */
export async function readProgram(source: string, compiled: CompiledProgram): Promise<ProgramOutline> {
  // Loaded when somebody first asks for a program.
  const { parse } = await import("acorn");
  const tree: Tree = parse(compiled.code, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const program = new ProgramReader(source, compiled, tree);
  const hooks = program.handlersOf("default", "agent", "hooks");
  const tools = program.handlersOf("default", "agent", "tools");
  const isWhole = ({ isComplete, elsewhere }: HandlersInFile): boolean =>
    isComplete && elsewhere.length === 0;
  return {
    handlers: { hooks: hooks.found, tools: tools.found },
    isComplete: { hooks: isWhole(hooks), tools: isWhole(tools) },
    handlersOf: (exported, what, kind) => program.handlersOf(exported, what, kind),
    exported: (name) => program.exported(name),
    exportedAs: (name) => {
      const found = exportOf(tree, name);
      return typeof found === "string" ? found : null;
    },
    importedAs: (name) => program.importedAs(name),
    stars: starsOf(tree),
    placesOf: (name) => program.placesOf(name),
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
  /** Where the handlers that are being looked for are in other files. */
  #elsewhere: (Imported & { what: HandlerHolder })[] = [];

  constructor(source: string, compiled: CompiledProgram, tree: Tree) {
    this.#source = source;
    this.#compiled = compiled;
    this.#tree = tree;
    this.#bindings = topBindings(tree);
  }

  handlersOf(exported: string, what: HandlerHolder, kind: HandlerKind): HandlersInFile {
    this.#isAltered = false;
    this.#elsewhere = [];
    this.#propertiesLeft = maxProperties;
    const { found, isComplete } =
      what === "record"
        ? this.#recordsFrom(kind, this.#export(exported))
        : this.#ofAgent(kind, this.#object(this.#export(exported), "agent"));
    return { found, isComplete: isComplete && !this.#isAltered, elsewhere: this.#elsewhere };
  }

  #ofAgent(kind: HandlerKind, agent: ObjectExpression | null): Handlers {
    if (agent === null) return this.#unknown();
    this.#agent = agent;
    const property = propertyOf(agent, kind);
    const isWhole = agent.properties.every((each) => each.type === "Property" && keyOf(each) !== null);
    if (property === null) return { found: [], isComplete: isWhole };
    const { found, isComplete } = this.#recordsFrom(kind, property.value);
    return { found, isComplete: isComplete && isWhole };
  }

  #recordsFrom(kind: HandlerKind, node: AnyNode | null, depth = 0): Handlers {
    const before = this.#elsewhere.length;
    const record = depth > maxSpreads ? null : this.#object(node, "record");
    if (record !== null) return this.#records(kind, record, depth);
    // What another file has is not unknown yet.
    return { found: [], isComplete: this.#elsewhere.length > before };
  }

  #unknown(): Handlers {
    return { found: [], isComplete: this.#elsewhere.length > 0 };
  }

  /** What is exported by this name, as an expression. */
  #export(name: string): AnyNode | null {
    const found = exportOf(this.#tree, name);
    if (typeof found !== "string") return found;
    const binding = this.#bindings.get(found);
    return binding?.id ?? null;
  }

  /** The handlers of a record, and of those that are spread into it. */
  #records(kind: HandlerKind, record: ObjectExpression, depth: number): Handlers {
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
      const inner = this.#recordsFrom(kind, property.argument, depth + 1);
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
    const origin = value.type === "Identifier" ? this.#originOf(value.name) : null;
    return {
      name,
      key,
      isShorthand: property.shorthand,
      declared: origin !== null && "declared" in origin ? origin.declared : null,
      imported: origin !== null && "imported" in origin ? origin.imported : null,
    };
  }

  /** What a name at the top of the file stands for, through `const x = y`. */
  #originOf(name: string): { declared: Extent } | { imported: Imported } | null {
    let binding = this.#bindings.get(name);
    for (let aliases = 0; aliases < maxSpreads && binding?.kind === "declared"; aliases++) {
      if (binding.value.type !== "Identifier" || !this.#bindings.has(binding.value.name)) break;
      binding = this.#bindings.get(binding.value.name);
    }
    if (binding?.kind === "imported") return { imported: { from: binding.from, name: binding.name } };
    const place = binding === undefined ? null : this.#place(binding.id, binding.id.name);
    return place === null ? null : { declared: place };
  }

  /** The object that an expression is: written there, named there, or given to a function such as `defineAgent`. */
  #object(node: AnyNode | null, what?: HandlerHolder, depth = 0): ObjectExpression | null {
    if (node === null || depth > maxSpreads) return null;
    if (node.type === "ObjectExpression") return node;
    if (node.type === "CallExpression") {
      this.#isAltered ||= !this.#isDefineAgent(node.callee);
      return this.#object(node.arguments[0] ?? null, what, depth + 1);
    }
    if (node.type !== "Identifier") return null;
    const binding = this.#bindings.get(node.name);
    if (binding?.kind === "declared") return this.#object(binding.value, what, depth + 1);
    if (binding !== undefined && what !== undefined)
      this.#elsewhere.push({ from: binding.from, name: binding.name, what });
    return null;
  }

  /** The SDK's function gives back what it is given; what another one adds or takes is not known. */
  #isDefineAgent(callee: AnyNode): boolean {
    const binding = callee.type === "Identifier" ? this.#bindings.get(callee.name) : undefined;
    return binding?.kind === "imported" && binding.from === "@lares/sdk" && binding.name === "defineAgent";
  }

  exported(name: string): { declared: Extent } | { imported: Imported } | null {
    const found = exportOf(this.#tree, name);
    return typeof found === "string" ? this.#originOf(found) : null;
  }

  importedAs(name: string): Imported | null {
    const binding = this.#bindings.get(name);
    return binding?.kind === "imported" ? { from: binding.from, name: binding.name } : null;
  }

  placesOf(name: string): NamePlace[] | null {
    return placesOfName(this.#source, this.#tree, name, (node) => this.#place(node, name));
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

interface Handlers {
  readonly found: HandlerDeclaration[];
  readonly isComplete: boolean;
}
