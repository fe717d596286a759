import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, win32 } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { isLaresError } from "../../kernel/src/base/errors.ts";
import { foldName } from "../../kernel/src/base/names.ts";
import { maxPathLength } from "../../kernel/src/base/vocabulary/bounds.ts";
import { openRootedFs, type RootedFs } from "../../kernel/src/platform/files/rooted-fs.ts";
import { pathFault } from "../../kernel/src/policy/path-fault.ts";
import { canonicalPath, isWithinExactly, parentOf } from "../../kernel/src/policy/paths.ts";
import { isForbidden, protectionOf } from "../../kernel/src/policy/protected.ts";
import { fuzz } from "./support/campaign.ts";

const target = "paths";

const name = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "photos",
    ".git",
    ".GIT",
    "git~1",
    ".lares",
    ".Lares",
    ".vscode",
    "lares.yaml",
    "state",
  ),
  fc.constantFrom(
    ".git ",
    ".git.",
    ".g\u200cit",
    ".gi\u0074",
    "\uff0egit",
    ".git::$INDEX_ALLOCATION",
    ".GıT",
    ".ſsh",
    ".ssh",
  ),
  fc.constantFrom(
    "NUL",
    "con.txt",
    "com¹",
    "LPT1 .x",
    "a:b",
    "C:",
    "aux",
    "...",
    "..",
    ".",
    "",
    " ",
    "~",
    "-",
    "link",
    "inner",
  ),
  fc.string({ unit: "grapheme", maxLength: 4 }),
  fc.string({ unit: "binary", maxLength: 3 }),
);
const separator = fc.oneof(
  { weight: 8, arbitrary: fc.constant("/") },
  fc.constantFrom("//", "\\", "/./", "/../", "\0", "%2f", "／"),
);
const path = fc.oneof(
  fc.array(fc.tuple(name, separator), { maxLength: 6 }).map((parts) => parts.flat().join("")),
  fc
    .tuple(fc.array(fc.tuple(name, separator), { maxLength: 4 }), name)
    .map(([parts, last]) => parts.flat().join("") + last),
);

/** The same rules, written differently: component by component, as a person would check them. */
function reference(input: string): string | null {
  if (input === "" || input.length > maxPathLength || !input.isWellFormed()) return null;
  for (const character of input) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20 || code === 0x7f || character === "\\" || character === ":") return null;
  }
  if (posix.isAbsolute(input) || win32.isAbsolute(input)) return null;
  const kept: string[] = [];
  for (const part of input.split("/")) {
    if (part === "" || part === ".") continue;
    if (part.endsWith(".") || part.endsWith(" ")) return null;
    const stem = (part.split(".")[0] ?? "").trimEnd().toUpperCase();
    if (/^(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³])$/.test(stem)) return null;
    kept.push(part);
  }
  return kept.length === 0 ? "." : kept.join("/");
}

fuzz({
  target,
  property:
    "a path is canonical as the reference says, once and for all, and cannot leave what it is joined to",
  arbitrary: path,
  runs: 3000,
  check: (input) => {
    const result = canonicalPath(input);
    expect(result.ok ? result.path : null).toBe(reference(input));
    if (!result.ok) {
      expect(result.reason.length).toBeGreaterThan(5);
      return;
    }
    expect(canonicalPath(result.path)).toEqual(result);
    for (const [root, flavour] of [
      ["/root", posix],
      ["C:\\root", win32],
    ] as const) {
      const whole = flavour.normalize(flavour.join(root, result.path));
      expect(whole === root || whole.startsWith(root + flavour.sep)).toBe(true);
    }
    expect(isWithinExactly(".", result.path)).toBe(true);
    for (let at: string | null = result.path; at !== null; at = parentOf(at))
      expect(isWithinExactly(at, result.path)).toBe(true);
  },
});

const authority = {
  extension: "dev.test.agent",
  requested: {},
  effective: {},
  denied: [],
  locations: ["photos", "a"],
  protectedPaths: ["a/b"],
  forbiddenPaths: ["photos/state", "a/.hidden"],
  memory: false,
  namespaces: {},
};

/** Other spellings that some file system takes for the same name. */
const disguises: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.normalize("NFD"),
  (text) => text.replace("s", "ſ"),
  (text) => text.replace(/(.)/, "$1\u200c"),
  (text) => `${text}\ufeff`,
  (text) => text.replace("k", "\u212a"),
];

fuzz({
  target,
  property: "what is forbidden stays so in every spelling, and what is allowed lies in a granted location",
  arbitrary: fc.record({
    place: fc.constantFrom(
      "photos/state",
      "a/.hidden",
      "photos/.git",
      "a/x/.git/config",
      "a/.git",
      "photos/state/x/y",
    ),
    spelling: fc.array(fc.nat(disguises.length - 1), { minLength: 1, maxLength: 4 }),
    noise: fc.constantFrom("", "./", "//", "/.//"),
    input: path,
  }),
  runs: 500,
  check: ({ place, spelling, noise, input }) => {
    const [first, ...rest] = place.split("/");
    const disguised = rest.map(
      (part, index) => disguises[spelling[index % spelling.length] ?? 0]?.(part) ?? part,
    );
    const spelled = [first, ...disguised].join(noise === "" ? "/" : `/${noise}`.replace("///", "//"));
    expect(pathFault(authority, spelled).ok, spelled).toBe(false);
    const checked = pathFault(authority, input);
    if (!checked.ok) {
      expect(checked.error.code).toBe("ScopeViolation");
      return;
    }
    expect(authority.locations.some((location) => isWithinExactly(location, checked.path))).toBe(true);
    expect(checked.path.split("/").some((part) => foldName(part) === ".git")).toBe(false);
    expect(isForbidden(checked.path, authority)).toBe(false);
    expect(protectionOf(checked.path, authority)).not.toBe("forbidden");
    expect(pathFault(authority, checked.path)).toEqual(checked);
  },
});

let folder = "";
let files: RootedFs;
let checking: RootedFs;
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "lares-fuzz-paths-")));
  mkdirSync(join(folder, "root/a/b"), { recursive: true });
  mkdirSync(join(folder, "root/photos/.git"), { recursive: true });
  mkdirSync(join(folder, "outside"));
  for (const at of [
    "root/a/inner",
    "root/a/b/inner",
    "root/inner",
    "root/photos/.git/config",
    "outside/inner",
    "outside/secret",
  ])
    writeFileSync(join(folder, at), at);
  symlinkSync("../outside", join(folder, "root/link"));
  symlinkSync("../../outside/secret", join(folder, "root/a/link"));
  symlinkSync("b", join(folder, "root/a/photos"));
  files = await openRootedFs(join(folder, "root"));
  checking = await openRootedFs(join(folder, "root"), { descriptors: false });
});
afterAll(() => {
  files[Symbol.dispose]();
  checking[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

fuzz({
  target,
  property:
    "against real folders: what a canonical path reads lies beneath the root, and no link is followed",
  arbitrary: fc.oneof(
    path,
    fc
      .array(fc.constantFrom("a", "b", "link", "inner", "photos", ".git", "config", "secret", "."), {
        minLength: 1,
        maxLength: 5,
      })
      .map((names) => names.join("/")),
  ),
  runs: 1500,
  check: async (input) => {
    const canonical = canonicalPath(input);
    if (!canonical.ok) return;
    for (const fs of [files, checking]) {
      let text: string | null = null;
      try {
        text = Buffer.from(await fs.readFile(canonical.path, { maxBytes: 100 })).toString();
      } catch (error) {
        expect(isLaresError(error), String(error)).toBe(true);
      }
      // Each file contains its own path, so the text shows which file was read.
      if (text !== null) expect(text).toBe(`root/${canonical.path}`);
      expect(text ?? "").not.toMatch(/outside|\.git/);
    }
  },
});
