import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { foldName } from "../base/names.ts";
import { isExecutable } from "./executable.ts";
import { compileNames, foldFast } from "./name-patterns.ts";
import { isForbidden, protectionOf } from "./protected.ts";
import protectedGroups from "./protected-names.json" with { type: "json" };
import { scriptTargets } from "./script-targets.ts";

test("the workspace itself is not closed because something at its top is", () => {
  const top = { protectedPaths: [], forbiddenPaths: ["state"] };
  expect([".", "state", "state/x", "other"].map((path) => isForbidden(path, top))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

const places = { protectedPaths: ["tools/agent", "one/program.ts"], forbiddenPaths: ["var/lares"] };

function check(expected: string, paths: readonly string[]): void {
  test.each(paths)(`${expected}: %j`, (path) => {
    expect(protectionOf(path, places)).toBe(expected);
  });
}

describe("protectionOf", () => {
  check("forbidden", [
    ".git",
    ".git/config",
    "sub/module/.git",
    "sub/.git/hooks/pre-commit",
    ".GIT/config",
    ".Git",
    ".g\u200cit/config",
    ".gi\ufefft",
    "git~1/config",
    "GIT~1",
    ".git./config",
    ".git /x",
    ".git::$INDEX_ALLOCATION/config",
    "var/lares",
    "var/lares/ledger.sqlite",
    "VAR/Lares/objects",
  ]);
  // A preview in an editor runs what a latexmkrc says, and npm runs node-gyp wherever a binding.gyp is.
  check("protected", [
    "paper/latexmkrc",
    "binding.gyp",
    "native/common.gypi",
    "app/analysis_options.yaml",
    "Project.toml",
    "game/project.godot",
    "site/web.config",
  ]);
  // Programs and settings that tools find by these very names, without being told to.
  check("protected", [
    "gatsby-node.js",
    "app/ember-cli-build.js",
    "webpack.common.js",
    "spec/spec_helper.rb",
    "manage.py",
    "lakefile.lean",
    "foundry.toml",
    "platformio.ini",
    "hie.yaml",
    "action.yml",
    "app/app.csproj.user",
    "dotfiles/zlogin",
    "dotfiles/bash_aliases",
    "dotfiles/npmrc",
    "vim/Session.vim",
    "etc/ld.so.preload",
    "JULES.md",
    "plugins/a/hooks.json",
  ]);
  // Looked at by Windows' and macOS' own programs as soon as the folder is, or run when they are opened.
  check("protected", [
    "photos/album.scf",
    "photos/x.library-ms",
    "x.searchConnector-ms",
    "a.appref-ms",
    "a.inetloc",
    "a.terminal",
    "table.xll",
    "table.iqy",
  ]);
  check("protected", [
    "package.yaml",
    "app/package.json5",
    "mise.toml",
    "mise.local.toml",
    "nodemon.json",
    "src-tauri/tauri.conf.json",
    "gunicorn.conf.py",
    "docs/conf.py",
    "jupyter_server_config.py",
    "gradle/wrapper/gradle-wrapper.properties",
    "gradle/libs.versions.toml",
    "terragrunt.hcl",
    "cdk.json",
    "firebase.json",
    "PKGBUILD",
    "config.nims",
    "Jakefile.js",
    "dub.sdl",
    "MEMORY.md",
    "lares.yaml",
    "Lares.yaml",
    "LARES.TOML",
    "lare\u017f.yaml",
    "sub/lares.yaml",
    "extension.toml",
    "a/b/extension.yaml",
    ".ssh/authorized_keys",
    ".gitconfig",
    ".npmrc",
    ".config/autostart/x.desktop",
    ".config/systemd/user/x.service",
    ".claude/settings.json",
    ".mcp.json",
    "Jenkinsfile",
    ".vscode/settings.json",
    ".vscode",
    "packages/x/.VSCode/tasks.json",
    ".github/workflows/ci.yml",
    ".ci/run",
    ".lares/extensions/a/agent.ts",
    "team.code-workspace",
    ".husky/pre-commit",
    ".bashrc",
    "home/.zshrc",
    ".PROFILE",
    ".envrc",
    ".config/fish/config.fish",
    ".config/fish/conf.d/x.fish",
    "profile.ps1",
    "Microsoft.PowerShell_profile.ps1",
    "tools/agent",
    "tools/agent/src/x.ts",
    "Tools/Agent/x.ts",
    "tools",
    "one/program.ts",
    "one",
    ".",
  ]);
  describe("every name that begins with a dot, at any depth, whether a list has it or not", () => {
    check("protected", [
      ".gitignore",
      ".gdbinit",
      "a/.unheard-of",
      ".cargo/config.toml",
      ".hg/hgrc",
      ".config/git/hooks/pre-commit",
      "home/.local/bin/tool",
      ".devcontainer.json",
      ".cursor/rules/x.md",
      "notes/.obsidian/plugins/x/main.js",
      "\u200c.bashrc",
      "a/\ufeff.profile",
    ]);
  });
  describe("whatever is run from a PATH, built, installed, started by a session or read by a model", () => {
    check("protected", [
      "bin/tool",
      "tools/sbin/x",
      "Scripts/activate",
      "node_modules/.bin/tsc",
      "node_modules/left-pad/index.js",
      "Makefile",
      "src/GNUmakefile",
      "rules.mk",
      "CMakeLists.txt",
      "package.json",
      "web/package-lock.json",
      "build.gradle.kts",
      "pom.xml",
      "build.rs",
      "Cargo.toml",
      "setup.py",
      "pyproject.toml",
      "tests/conftest.py",
      "Rakefile",
      "Gemfile",
      "justfile",
      "Taskfile.yml",
      "Dockerfile.dev",
      "docker-compose.override.yml",
      "vite.config.ts",
      "eslint.config.mjs",
      "BUILD.bazel",
      "flake.nix",
      "app.csproj",
      "Directory.Build.targets",
      "AGENTS.md",
      "docs/Claude.md",
      "GEMINI.md",
      "skills/x/SKILL.md",
      "skills/x/reference.txt",
      "agents/tidy/Skills",
      "copilot-instructions.md",
      "review.prompt.md",
      "notes/today.Chat.md",
      "Library/LaunchAgents/x",
      "LaunchDaemons/x.plist",
      "x.desktop",
      "cron.daily/x",
      "build.sh",
      "tools/run.PS1",
      "hooks/pre-commit",
      "MAKEFILE.",
      "agents.md::$DATA",
      "PACKAG~1.JSO",
      "a/BASHRC~1",
    ]);
  });
  describe("the parts of a repository, each by itself, so that none is put together step by step", () => {
    check("protected", [
      "docs/HEAD",
      "docs/head",
      "docs/objects",
      "docs/objects/info/alternates",
      "docs/refs/heads/main",
      "docs/packed-refs",
      "docs/commondir",
      "docs/gitdir",
      "docs/config",
      "docs/config.worktree",
      "backup.git/description",
      "_darcs/prefs",
      ".svn/entries",
      ".jj/repo",
      "x.fossil",
      "_FOSSIL_",
    ]);
  });
  check("none", [
    "bind/x",
    "cabinet/a.txt",
    "docs/making.md",
    "heads/a.md",
    "reference/a.md",
    "configuration.md",
    "claude-monet.md",
    "src/main.ts",
    "src/app.py",
    "photos/IMG~old.jpg",
    "draft~.txt",
    "photos/a.jpg",
    "git/x",
    "laresx.yaml",
    "my-lares.yaml",
    "extensions/readme.md",
    "tools2/x",
    "one/other.ts",
    "profile.txt",
    "docs/config.fish.md",
    "var/other",
  ]);
});

describe("the document that lists the names", () => {
  const path = new URL("../../../manifests/protected.yaml", import.meta.url);
  const document = parse(readFileSync(path, "utf8")) as {
    version: number;
    groups: { reason: string; folders?: string[]; files?: string[] }[];
  };

  test("is the kernel's own list", () => {
    expect(protectedGroups).toEqual(document.groups.map((group) => ({ folders: [], files: [], ...group })));
  });

  test("gives a reason for every group, and each name once", () => {
    for (const group of document.groups) {
      expect(group.reason).toMatch(/^[A-Z].{15,}\.$/);
      expect(Object.keys(group).filter((key) => !["reason", "folders", "files"].includes(key))).toEqual([]);
    }
    for (const kind of ["folders", "files"] as const) {
      const all = document.groups.flatMap((group) => group[kind] ?? []);
      expect(all.filter((name, at) => all.indexOf(name) !== at)).toEqual([]);
      expect(all.filter((name) => name !== name.toLowerCase() || name.startsWith("."))).toEqual([]);
    }
  });

  test("protects everything that its patterns match", () => {
    const missed = document.groups
      .flatMap(({ folders = [], files = [] }) => [...folders.map((name) => `${name}/x`), ...files])
      .map((pattern) => pattern.replaceAll("*", "anything").replaceAll("?", "1"))
      .filter((example) => protectionOf(`a/${example.toUpperCase()}`, places) !== "protected");
    expect(missed).toEqual([]);
  });
});

describe("name patterns", () => {
  test("match as a regular expression does", () => {
    const piece = fc.constantFrom("a", "b", ".", "*", "?", "-", "ab");
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join("")),
        fc.array(fc.constantFrom("a", "b", ".", "-"), { minLength: 1, maxLength: 6 }),
        (pattern, letters) => {
          const name = foldName(letters.join(""));
          if (/[*?]/.test(pattern) === false && foldName(pattern) !== pattern) return;
          const expected = new RegExp(
            `^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*").replaceAll("?", ".")}$`,
          );
          expect([name, compileNames([pattern])(name)]).toEqual([name, expected.test(name)]);
        },
      ),
      { seed: 1, numRuns: 3000 },
    );
  });

  test("a plain name is folded as any other", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 8 }), (name) => {
        expect(foldFast(name)).toBe(foldName(name));
      }),
      { seed: 1, numRuns: 3000 },
    );
    for (let code = 0; code < 128; code++)
      for (const name of [
        `a${String.fromCharCode(code)}`,
        `${String.fromCharCode(code)}A`,
        `a${String.fromCharCode(code)}.`,
      ])
        expect(foldFast(name)).toBe(foldName(name));
  });
});

test("a file with an executable bit, or that begins as a script or a program does, is executable", () => {
  const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));
  for (const mode of [0o755, 0o744, 0o654, 0o645]) expect(isExecutable(mode)).toBe(true);
  for (const start of [
    "#!/bin/sh",
    "\u00ef\u00bb\u00bf#!",
    "\u007fELF",
    "MZ",
    "\u00ca\u00fe\u00ba\u00be",
    "\0asm",
  ])
    expect(isExecutable(0o644, bytes(start))).toBe(true);
  for (const text of ["", "#", "# A title", " #!", "Mz"])
    expect(isExecutable(0o644, bytes(text))).toBe(false);
});

test("what a package's scripts name is found with and without an ending, and below another folder", () => {
  const targets = scriptTargets(
    JSON.stringify({
      bin: { x: "./cli/x.js" },
      scripts: {
        build: "node --watch=1 tools/build && cd web; ts-node 'pack.ts'",
        test: "vitest",
        pre: "node gen",
        post: "cd lib && node after",
      },
    }),
  );
  const named = [
    "cli/x.js",
    "tools/build.js",
    "Tools/BUILD.mjs",
    "tools/build/index.js",
    "web/pack.ts",
    "gen.js",
    "lib/after.js",
    "after.mjs",
  ];
  expect(named.filter((path) => !targets(path))).toEqual([]);
  expect(["src/gen.ts", "src/vitest.ts", "tools/other.js", "readme.md"].filter(targets)).toEqual([]);
  for (const text of ["", "[", "null", "[]", '{"scripts":7,"bin":null}'])
    expect(scriptTargets(text)("a.js")).toBe(false);
});

test.each<[script: string, path: string]>([
  ["node ./tools/../gen.js", "gen.js"],
  ["node tools//./gen.js", "tools/gen.js"],
  ["node tools/", "tools/index.js"],
  ["node .", "index.js"],
  ["node ${PWD}/tools/gen.js", "tools/gen.js"],
  ["node $INIT_CWD/gen", "gen.js"],
  ["node %INIT_CWD%\\gen.js", "gen.js"],
  ["node -r./setup.js x", "setup.js"],
  ["node --require:./setup.js x", "setup.js"],
  ["mocha test/**/*.spec.js", "test/deep/a.spec.js"],
  ["mocha 'test/*.js'", "test/a.js"],
  ["node tools/{a,b}.js", "tools/b.js"],
  ["cd tools && mocha *.js", "tools/a.js"],
  ["tap test/", "test/a.js"],
])("a package's script %j runs %s, however it spells it", (script, path) => {
  expect(scriptTargets(JSON.stringify({ scripts: { script } }))(path)).toBe(true);
});

test.each<[about: object, path: string]>([
  [{ main: "server" }, "server.js"],
  [{ main: "./lib" }, "lib/index.js"],
  [{ exports: { ".": { import: "./main.mjs" } } }, "main.mjs"],
  [{ jest: { globalSetup: "./setup.js" } }, "setup.js"],
  [{ "lint-staged": { "*.js": ["node tools/x.js"] } }, "tools/x.js"],
  [{ config: { entry: "tools/y.js" } }, "tools/y.js"],
  [{ directories: { bin: "./cmds/" } }, "cmds/x.js"],
  [{ name: "without a script `start`" }, "server.js"],
])("a package %j runs %s without a script that names it", (about, path) => {
  expect(scriptTargets(JSON.stringify(about))(path)).toBe(true);
});

test("a package's name, formatted folders, and texts that are not programs do not count as run", () => {
  const targets = scriptTargets(
    JSON.stringify({
      name: "notes",
      description: "Notes on trees",
      version: "1.0.0",
      scripts: { start: "serve", format: "prettier --write 'src/**/*.ts'", test: "tap test/ docs/*" },
      dependencies: { tree: "^1.0.0" },
    }),
  );
  const others = ["notes.md", "notes.js", "trees.js", "src/a.ts", "test/readme.md", "docs/a.md", "server.js"];
  expect(others.filter(targets)).toEqual([]);
});
