import { describe, expect, test } from "vitest";
import { isForbidden, protectionOf } from "./protected.ts";

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
  check("protected", [
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
  check("none", [
    "photos/a.jpg",
    ".gitignore",
    "git/x",
    ".github.md",
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
