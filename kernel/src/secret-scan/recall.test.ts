import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { seeded } from "../../../test/support/seed.ts";
import { shippedScanner } from "./redact.ts";
import { corpus } from "./testing/corpus.ts";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const scanner = shippedScanner();

/** Texts are kept whole in memory one at a time; what is no text is passed over. */
function findingsIn(path: string): readonly string[] {
  const bytes = readFileSync(path);
  if (bytes.includes(0)) return [];
  const text = bytes.toString("utf8");
  return scanner.find(text).map(({ rule, start, end }) => `${rule}: ${text.slice(start, end)}`);
}

test("of the known classes of secrets, at least 85 percent are found, whatever they stand in", () => {
  const cases = corpus(seeded());
  const isFound = ({ text, secret }: (typeof cases)[number]): boolean => {
    const at = text.indexOf(secret);
    const found = scanner.find(text);
    // What is left of it must not be of use: nearly all of it has to be covered.
    const covered = found.reduce(
      (sum, { start, end }) => sum + Math.max(0, Math.min(end, at + secret.length) - Math.max(start, at)),
      0,
    );
    return covered >= secret.length * 0.8;
  };
  const table = (by: "name" | "setting"): readonly string[] =>
    Object.entries(Object.groupBy(cases, (each) => each[by])).map(([name, group = []]) => {
      const found = group.filter(isFound).length;
      return `${name.padEnd(24)}${String(found).padStart(5)} of ${group.length}${found < group.length ? `  ${Math.round((100 * found) / group.length)} %` : ""}`;
    });
  const found = cases.filter(isFound).length;
  const lines = [...table("name"), "", ...table("setting"), "", `${found} of ${cases.length} found`];
  if (process.env["LARES_TABLES"] === "1") process.stdout.write(`${lines.join("\n")}\n`);
  expect(found / cases.length, lines.join("\n")).toBeGreaterThan(0.85);
});

test("no false alarm in the documents of the installed packages", () => {
  const folder = join(repository, "node_modules");
  const documents = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) =>
      entry.isFile() &&
      // The repository's own packages are linked there, with all that is installed for their builds.
      !/node_modules.lares(?:-vscode)?(?:$|[\\/])/.test(entry.parentPath) &&
      /^(?:readme|changelog|history|licen[cs]e|contributing|security|notice)|\.md$/i.test(entry.name) &&
      !/\.(?:[cm]?[jt]s|json|map)$/.test(entry.name),
  );
  expect(documents.length).toBeGreaterThan(500);
  const alarms = documents.flatMap(({ parentPath, name }) =>
    findingsIn(join(parentPath, name)).map((finding) => `${join(parentPath, name)}: ${finding}`),
  );
  expect(alarms).toEqual([]);
});

/** Files with invented secrets, which are meant to be found. */
const withExamples = [
  /^kernel\/src\/(?:secret-scan|egress|secrets|user-state|trace)\//,
  /^schemas\/(?:examples\/)?guest-abi\.(?:json|md)$/,
  /^test\/(?:fault\/hidden-files\.test|fuzz\/queries\.test|support\/recorded)\.ts$/,
  /^test\/fuzz\/corpus\/queries\/secret-as-name\.json$/,
];

test("no false alarm in this repository", () => {
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: repository, encoding: "utf8" }).split("\0");
  const alarms = files
    .filter((file) => file !== "" && !withExamples.some((pattern) => pattern.test(file)))
    .flatMap((file) => findingsIn(join(repository, file)).map((finding) => `${file}: ${finding}`));
  expect(files.length).toBeGreaterThan(1000);
  expect(alarms).toEqual([]);
});

test("words of prose and names of standards after a strong name are no secrets", () => {
  for (const text of [
    "A secret in a text: UTF-16 positions",
    "The password is hashed: SHA-256 or argon2",
    "secret: AES-256-GCM",
    "passwords (see RFC-6749)",
  ])
    expect([text, scanner.find(text)]).toEqual([text, []]);
});
