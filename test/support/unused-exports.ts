/** Finds exports that no other file imports. Knows this repository's way of writing modules, which Prettier keeps uniform. */
import { dirname, posix } from "node:path";

export interface Source {
  /** Relative to the repository, "/" between names. */
  readonly path: string;
  readonly text: string;
}

/** Returns `file name` for each named export that no other of these sources imports, in their order. */
export function unusedExports(sources: readonly Source[], isEntry: (path: string) => boolean): string[] {
  const used = new Map<string, Set<string>>();
  const use = (path: string, name: string): void => {
    const names = used.get(path);
    if (names === undefined) used.set(path, new Set([name]));
    else names.add(name);
  };
  const known = new Set(sources.map(({ path }) => path));
  for (const { path, text } of sources)
    for (const { from, names } of importsOf(text)) {
      const target = from.startsWith(".") ? resolved(path, from, known) : null;
      // What is imported as a whole counts where its name is written.
      if (target !== null) for (const name of names ?? wordsOf(text)) use(target, name);
    }
  return sources
    .filter(({ path }) => !isEntry(path))
    .flatMap(({ path, text }) =>
      exportsOf(text)
        .filter((name) => used.get(path)?.has(name) !== true)
        .map((name) => `${path} ${name}`),
    );
}

interface Import {
  readonly from: string;
  /** Null: the module as a whole. */
  readonly names: readonly string[] | null;
}

function importsOf(text: string): Import[] {
  const named = [
    ...text.matchAll(/^\s*(?:import|export)(?: type)?(?: \w+,)? \{([^}]*)\} from "([^"]+)"/gm),
  ].map(([, list = "", from = ""]) => ({ from, names: namesIn(list, "before") }));
  const whole = [
    ...text.matchAll(/^(?:import|export)(?: type)? \*(?: as \w+)? from "([^"]+)"/gm),
    ...text.matchAll(/\bimport\(\s*"([^"]+)"/g),
  ].map(([, from = ""]) => ({ from, names: null }));
  return [...named, ...whole];
}

function exportsOf(text: string): string[] {
  const declared = text.matchAll(
    /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm,
  );
  const listed = text.matchAll(/^export (?:type )?\{([^}]*)\}/gm);
  return [
    ...[...declared].map(([, name = ""]) => name),
    ...[...listed].flatMap(([, list = ""]) => namesIn(list, "after")),
  ].filter((name) => name !== "default");
}

/** Returns the names of a list in braces, those before or after `as`. */
function namesIn(list: string, side: "before" | "after"): string[] {
  return list
    .replaceAll(/\/\/.*$/gm, "")
    .split(",")
    .map((item) => {
      const [before = "", after = before] = item
        .trim()
        .replace(/^type /, "")
        .split(" as ");
      return (side === "before" ? before : after).trim();
    })
    .filter((name) => name !== "");
}

function wordsOf(text: string): string[] {
  return text.match(/\w+/g) ?? [];
}

/** Returns the file that a relative import names; null for one that is not among the sources. */
function resolved(importer: string, from: string, known: ReadonlySet<string>): string | null {
  const path = posix.join(dirname(importer).replaceAll("\\", "/"), from);
  return (
    [path, path.replace(/\.js$/, ".ts"), path.replace(/\.js$/, ".tsx")].find((each) => known.has(each)) ??
    null
  );
}
