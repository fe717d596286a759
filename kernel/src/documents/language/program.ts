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

/** Maximum length of a program file that is analysed. The slowest input of this length takes a few seconds. */
export const maxProgramCharacters = 128 * 1024;
/** Maximum number of record properties that are examined for handlers; spread records count each time. */
const maxProperties = 2000;

/** A program as JavaScript without shadowed variables, and the mapping to the source. */
export interface CompiledProgram {
  readonly code: string;
  /** Returns the source offset of a line (from 1) and column (from 0) of `code`; null if it has none. */
  readonly sourceOffset: (line: number, column: number) => number | null;
}

export const handlerKinds = ["hooks", "tools", "actions"] as const;
export type HandlerKind = (typeof handlerKinds)[number];

/** One handler of a program. */
export interface HandlerDeclaration {
  readonly name: string;
  /** The range of its name in the record, including quotes. */
  readonly key: Extent;
  readonly isShorthand: boolean;
  /**
   * The range of the function's own name, if it is declared elsewhere in the same file, possibly under another
   * name.
   */
  readonly declared: Extent | null;
  /** Where it is imported from. */
  readonly imported: Imported | null;
}

/** An export of another file; `from` is the specifier as written. */
export interface Imported {
  readonly from: string;
  readonly name: string;
}

/** The handlers in one file, and the files that contain more. */
interface HandlersInFile {
  readonly found: readonly HandlerDeclaration[];
  /** True if these, with those of the files named here, are all handlers. */
  readonly isComplete: boolean;
  readonly elsewhere: readonly (Imported & { readonly what: HandlerHolder })[];
}

/** The kind of export: a whole agent, or one of its handler records. */
export type HandlerHolder = "agent" | "record";

/** What static analysis can determine about a program. */
export interface ProgramOutline {
  readonly handlers: Readonly<Record<HandlerKind, readonly HandlerDeclaration[]>>;
  /** True if the list is complete: nothing is computed or comes from elsewhere. */
  readonly isComplete: Readonly<Record<HandlerKind, boolean>>;
  /** Returns the handlers in this file's exports, for files that import it. */
  readonly handlersOf: (exported: string, what: HandlerHolder, kind: HandlerKind) => HandlersInFile;
  /** Returns where a name that other files import is declared or comes from. */
  readonly exported: (name: string) => { readonly declared: Extent } | { readonly imported: Imported } | null;
  /** Returns the local name of an export. */
  readonly exportedAs: (name: string) => string | null;
  /** Returns the local name of an import. */
  readonly importedAs: (name: string) => Imported | null;
  /** Returns the files that are re-exported completely. */
  readonly stars: readonly string[];
  /** Returns all occurrences of an imported or exported name, which a rename has to change together; null in doubt. */
  readonly placesOf: (name: string) => readonly NamePlace[] | null;
  /**
   * Returns all occurrences of this top-level declaration. Returns null if renaming it in this file alone would be
   * incomplete: it is exported, something else has the name (including a second shorthand property), or a type or
   * comment mentions it.
   */
  readonly references: (name: string) => readonly Extent[] | null;
  /** Returns the places outside the record that evidently read a handler from it, such as `hooks.name`. */
  readonly reads: (kind: HandlerKind, name: string) => readonly HandlerRead[];
}

/** An occurrence of a handler's name in a record, including quotes. `isShorthand`: it also names a variable. */
interface HandlerRead extends Extent {
  readonly isShorthand: boolean;
}

/** Analyses a program's handlers. Throws SyntaxError if the program is not JavaScript. */
export async function readProgram(source: string, compiled: CompiledProgram): Promise<ProgramOutline> {
  // Loaded at first use.
  const { parse } = await import("acorn");
  const tree: Tree = parse(compiled.code, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const program = new ProgramReader(source, compiled, tree);
  const hooks = program.handlersOf("default", "agent", "hooks");
  const tools = program.handlersOf("default", "agent", "tools");
  const actions = program.handlersOf("default", "agent", "actions");
  const isWhole = ({ isComplete, elsewhere }: HandlersInFile): boolean =>
    isComplete && elsewhere.length === 0;
  return {
    handlers: { hooks: hooks.found, tools: tools.found, actions: actions.found },
    isComplete: { hooks: isWhole(hooks), tools: isWhole(tools), actions: isWhole(actions) },
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
  /** The handler records, including those that are spread into them. */
  readonly #recordsOf: Record<HandlerKind, Set<ObjectExpression>> = {
    hooks: new Set(),
    tools: new Set(),
    actions: new Set(),
  };
  #propertiesLeft = 0;
  /** True if a function call is between the export and the object literal. */
  #isAltered = false;
  /** Files in which the remaining handlers are. */
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
    // Incomplete unless the record is in one of the other files that were found.
    return { found: [], isComplete: this.#elsewhere.length > before };
  }

  #unknown(): Handlers {
    return { found: [], isComplete: this.#elsewhere.length > 0 };
  }

  /** Returns the expression that is exported under this name. */
  #export(name: string): AnyNode | null {
    const found = exportOf(this.#tree, name);
    if (typeof found !== "string") return found;
    const binding = this.#bindings.get(found);
    return binding?.id ?? null;
  }

  /** Returns the handlers of a record and of the records spread into it. */
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

  /** Resolves a top-level name through `const x = y`. */
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

  /** Resolves an expression to an object: a literal, a name, or the argument of a function such as `defineAgent`. */
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

  /** The SDK's function returns its argument; other functions may add or remove properties. */
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
    // A second shorthand is a different property, whose name must not change.
    return shortForms <= 1 && places.length === countWords(this.#source, name) ? places : null;
  }

  reads(kind: HandlerKind, name: string): HandlerRead[] {
    const places: HandlerRead[] = [];
    for (const { object, key, variable } of readsOf(this.#tree, name)) {
      const place = this.#isRecord(object, kind) ? this.#place(key, name) : null;
      // The compiler may write `{ name: name2 }` for it.
      const isShorthand = variable !== null && this.#sourceStart(variable) === place?.start;
      if (place !== null) places.push({ ...place, isShorthand });
    }
    return places;
  }

  /** True if an expression is a record of handlers: `hooks`, or `agent.hooks`. */
  #isRecord(node: AnyNode, kind: HandlerKind): boolean {
    const isMember = node.type === "MemberExpression" && memberOf(node) === kind;
    const name = isMember ? node.object : node;
    // The compiler renames variables that shadow this one.
    const object = name.type === "Identifier" ? this.#object(name) : null;
    if (object === null) return false;
    return isMember ? object === this.#agent : this.#recordsOf[kind].has(object);
  }

  /** Returns the position of a name in the source; null if the source differs there. */
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

/** Maximum number of aliases that are followed; also stops at cycles. */
const maxSpreads = 8;

interface Handlers {
  readonly found: HandlerDeclaration[];
  readonly isComplete: boolean;
}
