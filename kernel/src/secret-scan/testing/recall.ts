import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SecretScanner } from "../scanner.ts";
import type { CorpusCase } from "./corpus.ts";

const repository = fileURLToPath(new URL("../../../../", import.meta.url));

interface Recall {
  readonly found: number;
  readonly of: number;
  /** A line for each class, then for each setting. */
  readonly lines: readonly string[];
}

/** Returns how many secrets of the corpus are found. */
export function recallOf(scanner: SecretScanner, cases: readonly CorpusCase[]): Recall {
  const isFound = ({ text, secret }: CorpusCase): boolean => {
    const at = text.indexOf(secret);
    // What is left of it must not be of use: nearly all of it has to be covered.
    const covered = scanner
      .find(text)
      .reduce(
        (sum, { start, end }) => sum + Math.max(0, Math.min(end, at + secret.length) - Math.max(start, at)),
        0,
      );
    return covered >= secret.length * 0.8;
  };
  const lines = (by: "name" | "setting"): string[] =>
    Object.entries(Object.groupBy(cases, (each) => each[by])).map(([name, group = []]) => {
      const found = group.filter(isFound).length;
      const percent = `${Math.round((100 * found) / group.length)} %`;
      return `${name.padEnd(32)}${String(found).padStart(5)} of ${String(group.length).padEnd(6)}${percent.padStart(6)}`;
    });
  const found = cases.filter(isFound).length;
  return { found, of: cases.length, lines: [...lines("name"), "", ...lines("setting")] };
}

interface FalseAlarms {
  readonly files: number;
  /** File, rule and text of each. */
  readonly alarms: readonly string[];
}

/** Reads the documents of the installed packages and this repository's own, which hold no secrets. */
export function alarmsInDocuments(scanner: SecretScanner): FalseAlarms {
  const documents = readdirSync(join(repository, "node_modules"), {
    recursive: true,
    withFileTypes: true,
  }).filter(
    (entry) =>
      entry.isFile() &&
      // The repository's own packages are linked there, with all that is installed for their builds.
      !/node_modules.lares(?:-vscode)?(?:$|[\\/])/.test(entry.parentPath) &&
      /^(?:readme|changelog|history|licen[cs]e|contributing|security|notice)|\.md$/i.test(entry.name) &&
      !/\.(?:[cm]?[jt]s|json|map)$/.test(entry.name),
  );
  return alarmsIn(scanner, [
    ...documents.map(({ parentPath, name }) => join(parentPath, name)),
    ...ownFiles().filter((path) => path.endsWith(".md")),
  ]);
}

/** Files with invented secrets, which are meant to be found. */
const withExamples = [
  /^kernel\/src\/(?:secret-scan|egress|secrets|user-state|trace)\//,
  /^schemas\/(?:examples\/)?guest-abi\.(?:json|md)$/,
  /^test\/(?:fault\/hidden-files\.test|fuzz\/queries\.test|support\/recorded)\.ts$/,
  /^kernel\/src\/(?:inference\/fetching\/fetch-model|documents\/model-checks)\.test\.ts$/,
  /^test\/fuzz\/corpus\/queries\/secret-as-name\.json$/,
];

/** Reads this repository's own files. */
export function alarmsInRepository(scanner: SecretScanner): FalseAlarms {
  return alarmsIn(scanner, ownFiles());
}

function ownFiles(): readonly string[] {
  return execFileSync("git", ["ls-files", "-z"], { cwd: repository, encoding: "utf8" })
    .split("\0")
    .filter((file) => file !== "" && !withExamples.some((pattern) => pattern.test(file)))
    .map((file) => join(repository, file));
}

function alarmsIn(scanner: SecretScanner, paths: readonly string[]): FalseAlarms {
  const alarms = paths.flatMap((path) => {
    const bytes = readFileSync(path);
    // Binary files are skipped.
    if (bytes.includes(0)) return [];
    const text = bytes.toString("utf8");
    return scanner
      .find(text)
      .map(({ rule, start, end }) => `${path.slice(repository.length)}: ${rule}: ${text.slice(start, end)}`);
  });
  return { files: paths.length, alarms };
}
