import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { portsOf } from "../testing/fake-kernel.ts";
import { testShell } from "../testing/test-shell.ts";
import { createProgram, fitted } from "./program.ts";

const executable = fileURLToPath(new URL("../../../bin/lares.js", import.meta.url));
const shell = testShell();
const { lares } = shell;

describe("usage", () => {
  it.each([[["--help"]], [["run", "--help"]], [["--version"]], [["help", "check"]]])(
    "%j is not a failure",
    async (argv) => {
      expect(await lares(argv)).toBe(0);
      expect(shell.output).not.toBe("");
    },
  );
  it("every command's help has an example", async () => {
    const { commands } = createProgram(portsOf(shell.kernel));
    for (const name of commands.map((command) => command.name())) {
      shell.output = "";
      expect(await lares([name, "--help"])).toBe(0);
      expect([name, shell.output]).toEqual([name, expect.stringContaining(`lares ${name}`)]);
      expect([name, shell.output]).toEqual([name, expect.stringContaining("Examples:")]);
    }
  });
  it.each([
    [["frobnicate"], "unknown command"],
    [["run", "--approve", "sometimes"], "policy, none, all, ask"],
    [["run", "--watch", "--once"], "cannot be combined"],
    [["run", "--inspect", "--approve", "ask"], "cannot be combined"],
    [["run", "--once", "--timeout", "soon"], '"soon" is not a duration'],
    [["run", "--timeout", "1m"], "needs --once"],
    [["run", "/nowhere/at/all"], "does not exist"],
    [["stop", "/nowhere/at/all"], "does not exist"],
    [["traces", "--level", "loud"], '--level cannot be "loud"'],
    [["traces", "--since", "soon"], "is not a time"],
    [["actions", "--state", "nope"], 'There is no state "nope"'],
    [["actions", "show"], "Write lares actions show <id>"],
    [["actions", ".", "explode", "x"], "Use one of list, show"],
    [["types", "list", "a.b/C"], "Write lares types export a.b/C"],
    [["types", "export", "a.b/C", "d"], "Only one type is allowed"],
    [["jobs", "cancel"], "Write lares jobs cancel <id>"],
    [["jobs", "cancel", "a", "b"], "Only one id or title is allowed"],
    [["jobs", "list", "a"], "takes no id"],
    [["notifications", "act"], "Write lares notifications act <id>"],
    [["notifications", "dismiss"], "Write lares notifications dismiss <id>, or --all"],
    [["notifications", "dismiss", "a", "--all"], "An id and --all cannot be combined"],
    [["notifications", "list", "a"], "takes no id"],
    [["notifications", "act", "a", "--all"], '--all goes with "list" or "dismiss"'],
    [["asks", "allow"], "Write lares asks allow <id>"],
    [["asks", "list", "--always"], '--always goes with "allow" or "deny"'],
    [["asks", "deny", "a", "--all"], '--all goes with "list"'],
    [["decisions", "revoke"], "Write lares decisions revoke <id>"],
    [["decisions", "revoke", "a", "b"], "Only one id or title is allowed"],
    [["decisions", "list", "a"], "takes no id"],
    [["conversations", "delete"], "Write lares conversations delete <id>"],
    [["conversations", "delete", "a"], "add --yes"],
    [["conversations", "verify", "a", "b"], "Only one id or title is allowed"],
    [["conversations", "list", "a"], "takes no id"],
    [["conversations", "verify", "--all"], '--all goes with "list"'],
    [["conversations", "verify", "--yes"], '--yes goes with "delete"'],
    [["agents", "reload", "a", "--hook", "1"], '--hook goes with "resume"'],
    [["agents", "resume", "a", "--hook", "x"], "is not the number of a hook"],
    [["jobs", ".", "stop", "a"], "Use one of list, cancel, retry, remove"],
    [["jobs", "retry"], "Write lares jobs retry <id>"],
    [["tools", "call", "nothing"], "The name of a tool is missing"],
    [["tools", "call", "local.a", "tell"], "joined by a slash. Write lares tools call local.a/tell."],
    [["tools", "call", "a.b/c", "{"], "not valid JSON"],
    [["commands", "run", "nothing"], "The name of a command is missing"],
    [["commands", "run", "a.b/c"], 'No extension offers the command "a.b/c"'],
    [["new", "Bad Name"], "is not a name"],
    [["run", ".", "--approve", "ask"], "needs a terminal"],
  ])("%j is wrong usage", async (argv, message) => {
    expect(await lares(argv)).toBe(2);
    expect(shell.errors).toContain(message);
    expect(shell.output).toBe("");
  });
});

describe("messages for a newcomer", () => {
  it("check names a folder without documents so that it cannot be mistaken for its parent", async () => {
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(shell.folder);
    expect(await lares(["check", shell.folder])).toBe(0);
    cwd.mockRestore();
    expect(shell.errors.trim()).toBe(`There is no lares.yaml and no extension.yaml in "${shell.folder}".`);
  });

  it.each([[["run", "--frob"]], [["run", "--approve", "x"]], [["new"]], [["actions", "--frob"]]])(
    "%j wrongly used points to that command's own help",
    async (argv) => {
      expect(await lares(argv)).toBe(2);
      expect(shell.errors).toContain(`(lares ${argv[0]} --help shows its options)`);
      expect(shell.errors).not.toContain("lists the commands");
    },
  );

  it("permissions of a folder without agents asks nothing", async () => {
    shell.kernel.question = { ...shell.kernel.question, extensions: [], workspace: [] };
    expect(await lares(["permissions", shell.folder])).toBe(0);
    expect(shell.output).toContain("No agent is enabled in this folder");
    expect(shell.output).not.toContain("What may these agents do?");
  });
});

it("a reader that leaves in the middle of the help is not an error", () => {
  const script = `"$0" "$1" --help | head -n 1; exec "$0" "$1" traces --help | head -n 1`;
  const { stdout, stderr } = spawnSync("sh", ["-c", script, process.execPath, executable], {
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(stdout.split("\n")).toHaveLength(3);
});

it("help is broken between words where the terminal is narrow, and left as it is in a pipe", () => {
  const help = "Usage: lares [options]\n\n  one two three four five\n";
  expect(fitted(help, 14)).toBe("Usage: lares\n[options]\n\n  one two\n  three four\n  five\n");
  expect(fitted(help, undefined)).toBe(help);
});

it("a word that is neither a folder nor a command is named as such", () => {
  const { stderr, status } = spawnSync(process.execPath, [executable, "actions", "frob"], {
    encoding: "utf8",
  });
  expect(stderr).toContain('"frob" is neither a folder nor one of list');
  expect(status).toBe(2);
});
