import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { decodeUtf8 } from "../../../kernel/src/base/utf8.ts";

/** A public test suite, at the commit whose deviations are recorded here. */
interface Suite {
  readonly name: string;
  readonly repository: string;
  readonly commit: string;
  /** A folder that exists once the suite has been fetched. */
  readonly marker: string;
}

export const suites = {
  toml: {
    name: "toml-test",
    repository: "https://github.com/toml-lang/toml-test",
    commit: "d168c2a4f539a5219c804055af1600b8cf9ca6d7",
    marker: "tests/valid",
  },
  yaml: {
    name: "yaml-test-suite",
    repository: "https://github.com/yaml/yaml-test-suite",
    // From its branch "data".
    commit: "6ad3d2c62885d82fc349026c136ef560838fdf3d",
    marker: "229Q",
  },
  jsonSchema: {
    name: "JSON-Schema-Test-Suite",
    repository: "https://github.com/json-schema-org/JSON-Schema-Test-Suite",
    commit: "44401e0c046704b476ec9d2e2fccdaee618f259d",
    marker: "tests/draft7",
  },
  cel: {
    name: "cel-spec",
    repository: "https://github.com/google/cel-spec",
    commit: "508bd98efda47d85bcf1b9930dd5f35fa37e9a18",
    marker: "tests/simple/testdata",
  },
  openai: {
    name: "openai-openapi",
    repository: "https://github.com/openai/openai-openapi",
    commit: "f85dbe223d40e1a31cba812ab2d755c7e98a92a3",
    marker: "openapi.json",
  },
} as const satisfies Record<string, Suite>;

/** The folder of the suites: `LARES_SUITES`, or what `npm run suites:fetch` fills. */
export const suitesFolder = process.env["LARES_SUITES"] || join(import.meta.dirname, "../data");

/** Returns the folder of a suite; null if it was not fetched. */
export function folderOf(suite: Suite): string | null {
  const folder = join(suitesFolder, suite.name);
  return existsSync(join(folder, suite.marker)) ? folder : null;
}

/** The message for a skipped test. */
export function howToFetch(suite: Suite): string {
  return `${suite.name} is not in "${suitesFolder}": run npm run suites:fetch, or name its folder in LARES_SUITES`;
}

/** Returns all files beneath a folder, as relative paths, sorted. */
export function filesBeneath(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return found
    .filter((path) => statSync(path).isFile())
    .map((path) => relative(folder, path).replaceAll("\\", "/"))
    .toSorted();
}

/** Returns the text of a document as the kernel reads it from a file. */
export function documentText(file: string): string {
  return decodeUtf8(readFileSync(file));
}

/** Cases that deviate from a suite, each with the actual result. */
export type Deviations = Record<string, string>;

/** Returns the deviations recorded in `known/`, grouped by their reasons. A test compares them exactly. */
export function knownDeviations(name: "toml" | "yaml" | "json-schema" | "cel"): Deviations {
  const file = join(import.meta.dirname, "../known", `${name}.json`);
  const byReason = JSON.parse(readFileSync(file, "utf8")) as Record<string, Deviations>;
  return Object.assign({}, ...Object.values(byReason)) as Deviations;
}
