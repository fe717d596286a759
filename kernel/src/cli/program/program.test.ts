import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LaresError } from "../../base/errors.ts";
import type { CliPorts } from "../ports.ts";
import { protectedByName } from "../../policy/protected.ts";
import { createProgram, fitted, runProgram } from "./program.ts";
import { aConversation } from "../chat/testing/chat-walk.ts";
import {
  anAsk,
  aJob,
  anAction,
  anAgent,
  aNotification,
  aTrace,
  FakeKernel,
  portsOf,
} from "../testing/fake-kernel.ts";

const executable = fileURLToPath(new URL("../../../bin/lares.js", import.meta.url));
let folder = "";
let kernel = new FakeKernel();
let output = "";
let errors = "";

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "lares-cli-")));
  kernel = new FakeKernel();
  output = "";
  errors = "";
  process.exitCode = undefined;
  vi.stubEnv("NO_COLOR", "1");
  vi.spyOn(process.stdout, "write").mockImplementation((text) => ((output += String(text)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => ((errors += String(text)), true));
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function lares(argv: string[], ports: Partial<CliPorts> = {}): Promise<number> {
  return runProgram(createProgram(portsOf(kernel, ports)), argv);
}

describe("usage", () => {
  it.each([[["--help"]], [["run", "--help"]], [["--version"]], [["help", "check"]]])(
    "%j is not a failure",
    async (argv) => {
      expect(await lares(argv)).toBe(0);
      expect(output).not.toBe("");
    },
  );
  it("every command's help has an example", async () => {
    const { commands } = createProgram(portsOf(kernel));
    for (const name of commands.map((command) => command.name())) {
      output = "";
      expect(await lares([name, "--help"])).toBe(0);
      expect([name, output]).toEqual([name, expect.stringContaining(`lares ${name}`)]);
      expect([name, output]).toEqual([name, expect.stringContaining("Examples:")]);
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
    expect(errors).toContain(message);
    expect(output).toBe("");
  });
});

describe("messages for a newcomer", () => {
  it("check names a folder without documents so that it cannot be mistaken for its parent", async () => {
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(folder);
    expect(await lares(["check", folder])).toBe(0);
    cwd.mockRestore();
    expect(errors.trim()).toBe(`There is no lares.yaml and no extension.yaml in "${folder}".`);
  });

  it.each([[["run", "--frob"]], [["run", "--approve", "x"]], [["new"]], [["actions", "--frob"]]])(
    "%j wrongly used points to that command's own help",
    async (argv) => {
      expect(await lares(argv)).toBe(2);
      expect(errors).toContain(`(lares ${argv[0]} --help shows its options)`);
      expect(errors).not.toContain("lists the commands");
    },
  );

  it("permissions of a folder without agents asks nothing", async () => {
    kernel.question = { ...kernel.question, extensions: [], workspace: [] };
    expect(await lares(["permissions", folder])).toBe(0);
    expect(output).toContain("No agent is enabled in this folder");
    expect(output).not.toContain("What may these agents do?");
  });
});

describe("run --once", () => {
  beforeEach(() => writeFile(join(folder, "lares.yaml"), "version: 1\n"));
  const lastLine = () => output.trimEnd().split("\n").at(-1);

  it("shows traces and proposals, ends with the counts, exits 0 with actions pending", async () => {
    kernel.traces = [aTrace("21 files of 6 types", { fields: { files: 21 } })];
    kernel.actions.set("a", anAction("a"));
    expect(await lares(["run", folder, "--once"])).toBe(0);
    expect(output).toContain("21 files of 6 types  files=21");
    expect(output).toContain("Archive 1 extra copy of a.jpg");
    expect(output).toContain("1 action waits for an answer");
    expect(lastLine()).toBe("2 agents, 41 events, 1 actions, 1 refusals");
    expect(kernel.disposed).toBe(1);
  });

  it("says how many notifications wait from before", async () => {
    kernel.notifications = [aNotification("n1"), aNotification("n2", { state: "Dismissed" })];
    expect(await lares(["run", folder, "--once"])).toBe(0);
    expect(errors).toContain("1 notification from before: lares notifications lists it.");
    expect(kernel.requests.map(({ method }) => method)).not.toContain("lares/notifications/dismiss");
  });

  it("reports the errors of the workspace's documents, which explain a missing agent", async () => {
    const extension = join(folder, ".lares", "extensions", "x");
    await mkdir(extension, { recursive: true });
    await writeFile(join(extension, "extension.yaml"), "");
    const checkDocument = (file: string) =>
      Promise.resolve(
        (["error", "warning"] as const).map((severity) => ({
          file,
          line: 2,
          column: 1,
          severity,
          code: `a-${severity}`,
          message: "There is no field extentions.",
        })),
      );
    expect(await lares(["run", folder, "--once"], { checkDocument })).toBe(1);
    expect(`${output}${errors}`).toContain("Not all agents could run: 2 problems");
    expect(errors).toContain("lares.yaml:2:1  a-error  There is no field extentions.");
    expect(errors).toContain(`${join(".lares", "extensions", "x", "extension.yaml")}:2:1  a-error`);
    expect(errors).not.toContain("a-warning");
  });

  it("--once fails if a program's source has errors, and not if an agent only failed on an event", async () => {
    const failure = { handler: "seen", message: "boom\u001b", at: "2026-11-20T10:00:00.000Z" };
    kernel.agents = [anAgent("dev.x", { last_failure: { ...failure, place: { path: "/x/a.ts", line: 7 } } })];
    expect(await lares(["run", folder, "--once"])).toBe(0);
    expect(output).toMatch(/dev\.x: seen failed at .*: boom␛ \(\/x\/a\.ts:7\)/);
    kernel.agents = [anAgent("dev.x", { state: "Error", problems: 3, error: "a.ts:1:1: Expected" })];
    expect(await lares(["run", folder, "--once"])).toBe(1);
    expect(output).toContain("(3 problems in all)");
  });

  it("--approve all carries out what is pending before it ends", async () => {
    kernel.actions.set("a", anAction("a"));
    expect(await lares(["run", folder, "--once", "--approve", "all"])).toBe(0);
    expect(kernel.actions.get("a")?.state).toBe("Committed");
    expect(output).toContain("✓ done  Archive 1 extra copy of a.jpg");
  });

  it.each([
    [{ metrics: { ...anAgent("").metrics, events_received: 4 } }, "the agent dev.lares.busy still works"],
    [{ state: "Initializing" as const }, "the agent dev.lares.busy still works"],
    [{}, "the agents dev.lares.filetypes, dev.lares.storage, dev.lares.busy still work"],
  ])(
    "--timeout ends the run with the summary, names the working agents (%j), and exits 1",
    async (more, sentence) => {
      kernel.idle = false;
      kernel.agents.push(anAgent("dev.lares.busy", more), anAgent("dev.lares.asleep", { state: "Unloaded" }));
      expect(await lares(["run", folder, "--once", "--timeout", "0s"])).toBe(1);
      expect(errors).toContain(`Not done after 0s: ${sentence}.`);
      expect(lastLine()).toBe("4 agents, 41 events, 0 actions, 1 refusals");
      expect(kernel.disposed).toBe(1);
    },
  );

  it("--json prints nothing but JSON lines, the summary last", async () => {
    kernel.traces = [aTrace("hello")];
    expect(await lares(["run", folder, "--once", "--json"])).toBe(0);
    const lines = output
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines[0]).toMatchObject({ type: "trace", message: "hello" });
    expect(lines.at(-1)).toMatchObject({ type: "summary", agents: 2, events: 41, refusals: 1 });
  });

  it("--inspect has each step traced, and prints one line of JSON per trace without a terminal", async () => {
    kernel.traces = [aTrace("vdfs/read", { level: "debug", step: "call", fields: { call: "vdfs/read" } })];
    expect(await lares(["run", folder, "--once", "--inspect"])).toBe(0);
    expect(kernel.requests).toContainEqual({ method: "lares/traces/follow", params: { inspect: true } });
    const [first = ""] = output.split("\n");
    expect(JSON.parse(first)).toMatchObject({ type: "trace", step: "call" });
  });

  it("runs nothing if nothing was accepted and nobody can be asked", async () => {
    kernel.trusted = false;
    expect(await lares(["run", folder, "--once"])).toBe(1);
    expect(errors).toContain("[ ] All files: names and content");
    expect(errors).toContain("--trust");
    expect(kernel.requests.map(({ method }) => method)).toEqual(["lares/status", "lares/trust/question"]);
  });

  it("--trust accepts it with the connection", async () => {
    kernel.trusted = false;
    expect(await lares(["run", folder, "--once", "--trust"])).toBe(0);
    expect(kernel.connects).toMatchObject([{ folder, trusted: true }]);
  });

  it("without lares.yaml and without a terminal says what a starter would enable, and writes nothing", async () => {
    await rm(join(folder, "lares.yaml"));
    expect(await lares(["run", folder, "--once"])).toBe(1);
    expect(errors).toContain("dev.lares.filetypes, dev.lares.notes, dev.lares.storage");
    expect(await readdir(folder)).toEqual([]);
    expect(kernel.connects).toEqual([]);
  });

  it("works on a copy of a bundled example with its own state, and leaves nothing behind", async () => {
    const example = join(folder, "examples", "library");
    await rm(join(folder, "lares.yaml"));
    await mkdir(join(folder, "extensions", "x"), { recursive: true });
    await mkdir(join(folder, "examples", "other"), { recursive: true });
    await mkdir(example);
    await writeFile(join(example, "lares.yaml"), "version: 1\n");
    vi.stubEnv("LARES_HOME", "/somewhere/else");
    let seen: { folder: string; beside: string[]; examples: string[]; home: string | undefined } | undefined;
    const connect: CliPorts["connect"] = async (options) => {
      seen = {
        folder: options.folder,
        beside: await readdir(join(options.folder, "..", "..")),
        examples: await readdir(join(options.folder, "..")),
        home: process.env["LARES_HOME"],
      };
      return kernel.connect(options);
    };
    const ports = { connect, examplesFolder: join(folder, "examples") };
    expect(await lares(["run", example, "--once"], ports)).toBe(0);
    expect(seen?.folder).not.toBe(example);
    expect(seen?.beside.toSorted()).toEqual(["examples", "extensions", "home"]);
    expect(seen?.examples.toSorted()).toEqual(["library", "other"]);
    expect(seen?.home).toBe(join(seen?.folder ?? "", "..", "..", "home"));
    expect(process.env["LARES_HOME"]).toBe("/somewhere/else");
    await expect(readdir(seen?.folder ?? "")).rejects.toThrow("ENOENT");
    expect(await readdir(join(folder, "extensions"))).toEqual(["x"]);

    expect(await lares(["run", example, "--once", "--in-place"], ports)).toBe(0);
    expect(seen?.folder).toBe(example);
  });
});

describe("check", () => {
  const finding = {
    line: 3,
    column: 5,
    code: "unknown-field",
    message: "There is no field grantz.",
  } as const;

  it("prints one line per fault and exits 1 on an error", async () => {
    await writeFile(join(folder, "lares.yaml"), "");
    const checkDocument = (file: string) =>
      Promise.resolve([{ ...finding, file, severity: "error" } as const]);
    expect(await lares(["check", folder], { checkDocument })).toBe(1);
    expect(output).toBe(`${join(folder, "lares.yaml")}:3:5  unknown-field  There is no field grantz.\n`);
    expect(errors).toContain("1 error, 0 warnings in 1 document");
  });

  it("a warning is not a failure; --format json is one object", async () => {
    await writeFile(join(folder, "lares.yaml"), "");
    const checkDocument = (file: string) =>
      Promise.resolve([{ ...finding, file, severity: "warning" } as const]);
    const explain = () =>
      Promise.resolve({
        values: [
          {
            key: "approvals.auto_approve_below",
            value: 0.2,
            source: "workspace",
            place: "lares.yaml:3",
          } as const,
        ],
        environmentFaults: ["LARES_TRACE_LEVL is not a setting."],
        protected: protectedByName,
      });
    expect(await lares(["check", folder, "--format", "json", "--explain"], { checkDocument, explain })).toBe(
      0,
    );
    expect(JSON.parse(output)).toMatchObject({
      ok: true,
      findings: [{ line: 3, severity: "warning" }],
      configuration: [{ source: "workspace" }],
      environment_faults: ["LARES_TRACE_LEVL is not a setting."],
      protected: protectedByName,
    });
    output = "";
    expect(await lares(["check", folder, "--explain"], { checkDocument, explain })).toBe(0);
    // Names that are asked about each time are shown with the reason.
    expect(output).toMatch(/Asked each time[^]*Shells and editors read these when they start\.\n[^\n]+\S/);
    expect(output).toContain("node_modules/");
    expect(errors).toContain("LARES_TRACE_LEVL is not a setting.");
  });
});

describe("inspecting and deciding from a script", () => {
  it("traces are read oldest first", async () => {
    kernel.traces = [aTrace("first"), aTrace("second")];
    expect(await lares(["traces", folder, "--since", "1h"])).toBe(0);
    expect(output.indexOf("first")).toBeLessThan(output.indexOf("second"));
  });

  it("an action is found by the end of its id; undo prints the result", async () => {
    kernel.actions.set("0199-aaaa1111", anAction("0199-aaaa1111", { state: "Committed" }));
    expect(await lares(["actions", folder])).toBe(0);
    expect(output).toContain("aaaa1111");
    expect(await lares(["actions", folder, "undo", "aaaa1111"])).toBe(0);
    expect(output).toContain("• undone");
    expect(kernel.actions.get("0199-aaaa1111")?.state).toBe("Undone");
  });

  it("an approval that ends in another state than done is a failure", async () => {
    kernel.actions.set("0199-aaaa1111", anAction("0199-aaaa1111", { digest: `sha256:${"b".repeat(64)}` }));
    kernel.actions.set("0199-bbbb2222", anAction("0199-bbbb2222"));
    expect(await lares(["actions", folder, "approve", "2222", "--effects", "0", "--json"])).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ state: "Committed" });
    expect(kernel.requests.at(-1)?.params).toMatchObject({ effects: [0], remember: "once" });
  });

  it("a tool's value is printed, its error is a failure", async () => {
    expect(await lares(["tools", folder, "call", "dev.lares.filetypes/summary", '{"top": 1}'])).toBe(0);
    expect(JSON.parse(output)).toEqual({ total: 3 });
    kernel.toolResult = { status: "error", message: "no\u001b[31m", recoverable: false };
    expect(await lares(["tools", folder, "call", "dev.lares.filetypes/summary"])).toBe(1);
    expect(errors).toContain("error: no␛[31m");
  });

  it("a command of an extension is listed with its parameters, and run with them", async () => {
    kernel.commands = [
      {
        agent: "a.b",
        name: "album",
        title: "Create …\u001b[31m",
        description: "",
        parameters: { required: ["name"], properties: { name: { type: "string" }, width: {} } },
      },
    ];
    expect(await lares(["commands", folder])).toBe(0);
    expect(output).toContain("a.b/album  { name, width? }");
    expect(output).not.toContain("\u001b");
    expect(await lares(["commands", folder, "run", "a.b/album", "Summer"])).toBe(0);
    expect(kernel.requests.at(-1)?.params).toEqual({
      agent: "a.b",
      name: "album",
      arguments: { name: "Summer" },
    });
    kernel.toolResult = { status: "success", value: { action: "a1", state: "PendingApproval" } };
    expect(await lares(["commands", folder, "run", "a.b/album", '{"width": 1}'])).toBe(3);
    expect(output).toContain("A change waits for you: lares actions show a1");
    kernel.toolResult = { status: "error", message: "no", recoverable: false };
    expect(await lares(["commands", folder, "run", "a.b/album"])).toBe(1);
  });

  it("jobs are listed with their state, with untrusted text made safe", async () => {
    expect(await lares(["jobs", folder])).toBe(0);
    expect(output).toContain("No job is queued or running.");
    output = "";
    kernel.jobs = [
      aJob("job-running1", { state: "Running", progress: { fraction: 0.409, message: "no\u001b[31m" } }),
      aJob("job-waiting1", { when_idle: true, priority: "low", checkpoint: true }),
      aJob("job-cancell1", { state: "Cancelling", name: "a\nb" }),
    ];
    expect(await lares(["jobs", folder])).toBe(0);
    expect(output).toMatch(/running1 .*running .*40 % · no␛\[31m/);
    expect(output).toMatch(/waiting1 .*queued .*low .*starts when the workspace is quiet/);
    expect(output).toMatch(/cancell1 .*being cancelled/);
    expect(output).not.toContain("\u001b");
    output = "";
    expect(await lares(["jobs", folder, "--json", "--agent", "dev.lares.storage"])).toBe(0);
    expect(JSON.parse(output)).toEqual({ items: kernel.jobs, total: 3 });
    expect(kernel.requests.at(-1)).toEqual({
      method: "lares/jobs/list",
      params: { agent: "dev.lares.storage", limit: 1000 },
    });
  });

  it("a dead job is listed with its last error, retried and removed by the end of its id", async () => {
    kernel.jobs = [
      aJob("11111111-1111-7111-8111-00000000001a"),
      aJob("11111111-1111-7111-8111-0000000000dd", { state: "Dead", error: "no\u001b[31m such\nhost" }),
    ];
    expect(await lares(["jobs", folder, "--dead"])).toBe(0);
    expect(output).toMatch(/dead .*no.*such.*host/);
    expect(output).not.toContain("00001a");
    expect(await lares(["jobs", folder, "retry", "dd"])).toBe(0);
    expect(output).toContain("runs again");
    expect(kernel.requests.at(-1)).toEqual({
      method: "lares/jobs/retry",
      params: { id: "11111111-1111-7111-8111-0000000000dd" },
    });
    expect(await lares(["jobs", folder, "remove", "dd"])).toBe(0);
    expect(output).toContain("removed");
    expect(await lares(["jobs", folder, "retry", "1a"])).toBe(2);
    expect(errors).toContain('"lares jobs --dead" lists them');
  });

  it("a job is cancelled by the end of its id if that is unambiguous", async () => {
    kernel.jobs = [
      aJob("11111111-1111-7111-8111-00000000000a"),
      aJob("11111111-1111-7111-8111-00000000001a"),
    ];
    expect(await lares(["jobs", folder, "cancel", "1a"])).toBe(0);
    expect(output).toContain("cancelled  survey");
    expect(kernel.requests.at(-1)).toEqual({
      method: "lares/jobs/cancel",
      params: { id: "11111111-1111-7111-8111-00000000001a" },
    });
    expect(await lares(["jobs", folder, "cancel", "a"])).toBe(2);
    expect(errors).toContain('"a" can mean 2 open jobs: 0000000a "survey", 0000001a "survey"');
    expect(await lares(["jobs", folder, "cancel", "bb"])).toBe(2);
    expect(await lares(["jobs", folder, "cancel", "11111111-1111-7111-8111-0000000000bb"])).toBe(1);
    expect(errors).toContain("There is no job");
  });

  it("notifications are listed with their counts and made safe, dismissed, and their button shows the action", async () => {
    expect(await lares(["notifications", folder])).toBe(0);
    expect(output).toContain("No notification is new.");
    kernel.notifications = [
      aNotification("11111111-00000001a", { title: "Full\u001b", count: 3, action: "a1" }),
      aNotification("11111111-00000001b"),
      aNotification("11111111-00000001c", { state: "Dismissed" }),
    ];
    output = "";
    expect(await lares(["notifications", folder])).toBe(0);
    expect(output).toMatch(
      /! Full␛ \(3 times\) {2}dev\.lares\.storage\n {2}film\.mp4\n {2}0000001a .*proposes a change/,
    );
    expect(output).toContain("lares notifications act 0000001a");
    expect(output).not.toContain("0000001c");
    output = "";
    expect(await lares(["notifications", folder, "--all", "--json"])).toBe(0);
    expect(JSON.parse(output)).toEqual({ items: kernel.notifications, total: 3 });
    output = "";
    expect(await lares(["notifications", folder, "act", "1a"])).toBe(0);
    expect(output).toContain("lares review");
    expect(await lares(["notifications", folder, "dismiss", "1b"])).toBe(0);
    expect(await lares(["notifications", folder, "dismiss", "--all"])).toBe(0);
    expect(output).toContain("✓ dismissed 2 notifications");
    expect(kernel.requests.filter(({ method }) => method === "lares/notifications/dismiss")).toMatchObject([
      { params: { ids: ["11111111-00000001b"] } },
      { params: { ids: ["11111111-00000001a", "11111111-00000001b"] } },
    ]);
    expect(await lares(["notifications", folder, "act", "zz"])).toBe(2);
    expect(errors).toContain('No notification has an id that ends in "zz"');
  });

  it("questions are listed with why they are asked, and answered by the end of their id", async () => {
    expect(await lares(["asks", folder])).toBe(0);
    expect(output).toContain("No question waits for you.");
    kernel.asks = [anAsk("11111111-00000001a", { title: "May it?\u001b" }), anAsk("11111111-00000001b")];
    output = "";
    expect(await lares(["asks", folder])).toBe(0);
    expect(output).toMatch(/\? May it\?␛\n {2}None is named\.\n {2}0000001a {2}dev\.lares\.storage/);
    output = "";
    expect(await lares(["asks", folder, "--json", "--all"])).toBe(0);
    expect(JSON.parse(output)).toEqual(kernel.asks);
    expect(await lares(["asks", folder, "allow", "1b"])).toBe(0);
    expect(output).toContain("✓ allowed  May agents use it?");
    expect(await lares(["asks", folder, "deny", "1a", "--always"])).toBe(0);
    expect(kernel.requests.filter(({ method }) => method === "lares/asks/answer")).toMatchObject([
      { params: { id: "11111111-00000001b", allow: true, digest: kernel.asks[1]?.digest } },
      { params: { id: "11111111-00000001a", allow: false, remember: "always" } },
    ]);
    expect(await lares(["asks", folder, "allow", "zz"])).toBe(2);
    expect(errors).toContain('No question that waits has an id that ends in "zz"');
  });

  it("conversations are listed, proven, and deleted by the end of their id", async () => {
    kernel.memories.set("lares/conversations/list", { items: [] });
    expect(await lares(["conversations", folder])).toBe(0);
    expect(output).toContain("There is no conversation here.");
    const titled = { ...aConversation, id: "11111111-00000001a", title: "Notes\u001b" };
    const archived = { ...aConversation, id: "11111111-00000001b", title: "", state: "archived", unread: 2 };
    kernel.memories.set("lares/conversations/list", { items: [titled, archived] });
    output = "";
    expect(await lares(["conversations", folder, "--all"])).toBe(0);
    expect(output).toMatch(/0000001a .*Notes␛/);
    expect(output).toMatch(/0000001b +2 unread .*Without a title/);
    output = "";
    expect(await lares(["conversations", folder, "--json"])).toBe(0);
    expect(
      output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([titled, archived]);
    const bad = { ok: false, records: 4, head: "a".repeat(64), firstBad: { seq: 5, reason: "changed" } };
    kernel.memories.set("lares/conversations/verify", bad);
    output = "";
    expect(await lares(["conversations", folder, "verify", "1a"])).toBe(1);
    expect(output).toMatch(/✗ 0000001a {2}Notes␛ {2}chain broken at record 5: changed/);
    kernel.memories.set("lares/conversations/verify", { ok: true, records: 4, head: "a".repeat(64) });
    expect(await lares(["conversations", folder, "verify"])).toBe(0);
    kernel.memories.set("lares/conversations/delete", { kept_for_forks: true });
    expect(await lares(["conversations", folder, "delete", "1b", "--yes"])).toBe(0);
    expect(output).toContain("✓ deleted; what its forks have of it stays until they are deleted");
    expect(kernel.requests.filter(({ method }) => method === "lares/conversations/delete")).toMatchObject([
      { params: { id: "11111111-00000001b" } },
    ]);
    expect(await lares(["conversations", folder, "verify", "zz"])).toBe(2);
    expect(errors).toContain('No conversation has an id that ends in "zz"');
  });

  it("a suspended schedule is shown with how to resume it, and resumed by its number", async () => {
    const suspended = { since: "2026-11-20T10:00:00.000Z", error: "broken\u001b" };
    kernel.agents = [anAgent("dev.x", { hooks: [{ handler: "tidy", schedule: "@daily", suspended }] })];
    expect(await lares(["agents", folder])).toBe(0);
    expect(output.replaceAll(/\s+/g, " ")).toMatch(
      /the schedule of tidy \(@daily\) is suspended since .*; lares agents resume dev\.x --hook 0 resumes it\. Three runs in a row failed: broken␛/,
    );
    expect(await lares(["agents", folder, "resume", "dev.x", "--hook", "0"])).toBe(0);
    expect(kernel.requests.filter(({ method }) => method === "lares/agents/control")).toMatchObject([
      { params: { id: "dev.x", command: "resume", hook: 0 } },
    ]);
  });

  it("decisions are listed as sentences, and revoked by the end of their id", async () => {
    expect(await lares(["decisions", folder])).toBe(0);
    expect(output).toContain("Nothing is remembered here");
    const rules = [{ decide: "allow", agent: "dev.x", kind: "file.edit", path: "a" }] as const;
    const decision = { title: "Allow edits\u001b", rules: [...rules], used: 2 };
    kernel.decisions = [
      { ...decision, id: "11111111-00000001a", created: "2026-11-20T10:00:00.000Z" },
      { ...decision, id: "rule-00000001b", last_used: "2026-11-20T10:00:00.000Z" },
    ];
    output = "";
    expect(await lares(["decisions", folder])).toBe(0);
    expect(output).toMatch(/0000001a .*2 times .*Allow edits␛/);
    expect(output).toMatch(/0000001b +by hand +2 times, last .*Allow edits␛/);
    output = "";
    expect(await lares(["decisions", folder, "--json"])).toBe(0);
    expect(JSON.parse(output)).toEqual({ items: kernel.decisions });
    expect(await lares(["decisions", folder, "revoke", "1b"])).toBe(0);
    expect(kernel.requests.at(-1)).toEqual({
      method: "lares/decisions/revoke",
      params: { id: "rule-00000001b" },
    });
    expect(await lares(["decisions", folder, "revoke", "zz"])).toBe(2);
    expect(errors).toContain('No decision has an id that ends in "zz"');
  });

  it("--scope remembers the rules that were offered; --always and scopes that are not offered are refused", async () => {
    const rules = [{ decide: "allow", agent: "dev.x", kind: "file.move", path: "inbox/**" }] as const;
    const scopes = [{ id: "folder" as const, title: "This folder: moves", rules: [...rules] }];
    kernel.actions.set("a", anAction("a", { scopes }));
    kernel.actions.set("b", anAction("b", { asked_because: { sentence: "It is asked each time." } }));
    const approve = (id: string, ...options: string[]) =>
      lares(["actions", folder, "approve", id, ...options]);
    expect(await approve("a", "--always")).toBe(2);
    expect(errors).toContain("--always would not cover this change. Possible: --scope folder.");
    expect(await approve("b", "--always")).toBe(2);
    expect(errors).toContain("--always is not possible here. It is asked each time.");
    expect(await approve("b", "--scope", "kind")).toBe(2);
    expect(kernel.requests.filter(({ method }) => method === "lares/actions/approve")).toEqual([]);
    expect(await approve("a", "--scope", "folder")).toBe(0);
    expect(kernel.requests.at(-1)).toMatchObject({ params: { id: "a", rules } });
  });

  it("a broken chain of records is a failure", async () => {
    kernel.verification = { ok: false, records: 3, head: "", firstBad: { seq: 2, reason: "hash differs" } };
    expect(await lares(["memory", "verify", folder, "--agent", "dev.lares.storage"])).toBe(1);
    expect(output).toContain("chain broken at record 2: hash differs");
  });

  it("an untrusted workspace's error says how to accept it", async () => {
    const message = "This workspace is not trusted. A person can accept it with lares/trust.";
    const connect = () => Promise.reject(new LaresError("Untrusted", message));
    expect(await lares(["agents", folder], { connect })).toBe(1);
    expect(errors).toContain("This workspace is not trusted");
    expect(errors).toContain("`lares run` shows them and asks");
    expect(errors).not.toContain("lares/trust");
  });

  it("doctor fails if the sandbox fails", async () => {
    const stateHome = () => join(folder, "state");
    expect(await lares(["doctor"], { stateHome })).toBe(0);
    expect(output).toContain("✓ sandbox");
    const probeSandbox = () => Promise.reject(new Error("no WebAssembly"));
    expect(await lares(["doctor"], { stateHome, probeSandbox })).toBe(1);
    expect(output).toContain("✗ sandbox        no WebAssembly");
  });
});

describe("new", () => {
  it("writes a complete extension, and never overwrites another", async () => {
    const target = join(folder, "note-titles");
    expect(await lares(["new", target, "--id", "com.example.note-titles"])).toBe(0);
    const files = (await readdir(target)).filter((name) => name !== ".lares");
    expect(files.toSorted()).toEqual([
      "README.md",
      "agent.ts",
      "extension.yaml",
      "title.test.ts",
      "title.ts",
    ]);
    const texts = await Promise.all(files.map((file) => readFile(join(target, file), "utf8")));
    expect(texts.join("")).not.toMatch(/\{\{\w+\}\}/);
    const manifest = await readFile(join(target, "extension.yaml"), "utf8");
    expect(manifest).toContain("id: com.example.note-titles");
    const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(manifest)?.[1] ?? "";
    const published = JSON.parse(await readFile(join(target, schema), "utf8")) as object;
    expect(published).toHaveProperty("$schema", "http://json-schema.org/draft-07/schema#");
    expect(await lares(["new", target])).toBe(2);
    expect(errors).toContain("exists already");
  });

  it("writes a mind without code, with its folders", async () => {
    const target = join(folder, ".lares", "extensions", "notes-keeper");
    expect(await lares(["new", target, "--template", "mind"])).toBe(0);
    const files = (await readdir(target, { recursive: true })).filter((name) => name.endsWith(".md"));
    expect(files.toSorted()).toEqual([
      "README.md",
      "SOUL.md",
      "prompts/monday.md",
      "skills/weekly-review/SKILL.md",
    ]);
    const manifest = await readFile(join(target, "extension.yaml"), "utf8");
    expect(manifest).toContain("id: local.notes-keeper");
    expect(output).toContain("lares chat local.notes-keeper");
  });

  it.each([
    ["go", ["Makefile", "agent.go", "agent_test.go", "go.mod", "guest.go"]],
    ["c", ["Makefile", "agent.c", "agent.h", "agent_test.c", "guest.c", "guest.h", "json.c", "json.h"]],
    ["rust", ["Cargo.toml", "Makefile", "src/agent.rs", "src/guest.rs", "src/json.rs", "src/main.rs"]],
    [
      "assemblyscript",
      [
        "asconfig.json",
        ...["agent.ts", "guest.ts", "index.ts", "json.ts", "tsconfig.json", "wasi.ts"].map(
          (name) => `assembly/${name}`,
        ),
        "package.json",
        "test/agent.test.js",
      ],
    ],
  ])("writes an extension in %s, and says how to build and try it", async (language, sources) => {
    const target = join(folder, "note-tags");
    expect(await lares(["new", target, "--template", language])).toBe(0);
    const found = await readdir(target, { recursive: true, withFileTypes: true });
    const files = found
      .filter((entry) => entry.isFile() && !entry.parentPath.includes(".lares"))
      .map((entry) => relative(target, join(entry.parentPath, entry.name)).split(sep).join("/"));
    expect(files.toSorted()).toEqual([...sources, "README.md", "extension.yaml"].toSorted());
    const texts = await Promise.all(files.map((file) => readFile(join(target, file), "utf8")));
    expect(texts.join("")).not.toMatch(/\{\{\w+\}\}/);
    expect(output).toMatch(/Build it: .+(make|npm run build)\n/);
    expect(output).toContain("lares conformance ");
  });

  it.each([
    ["cobol", 'no template "cobol". Use one of ts, mind, assemblyscript, c, go, rust.'],
    ["../templates/extension-c", "is a path, and a template is chosen by its name. Use one of ts, mind,"],
    ["extension-c\\..", "is a path"],
    ["__proto__", 'no template "__proto__"'],
  ])("--template %s is refused in a sentence, and nothing is written", async (language, sentence) => {
    expect(await lares(["new", join(folder, "notes"), "--template", language])).toBe(2);
    expect(errors).toContain(sentence);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("test", () => {
  const extension = () => join(folder, "note-titles");
  beforeEach(async () => {
    await lares(["new", extension(), "--template", "ts"]);
    output = "";
  });

  /** In a process of its own, so that what its Vitest prints is not taken for what this one says. */
  const byItself = () => spawnSync(process.execPath, [executable, "test", extension()], { encoding: "utf8" });

  it("a new extension passes its own tests, which leave nothing behind", async () => {
    const before = await readdir(extension());
    const { status, stdout } = byItself();
    expect(status).toBe(0);
    expect(stdout).toMatch(/^✓ extension.yaml\n✓ it can be loaded\n[^]*Tests {2}5 passed/);
    expect(await readdir(extension())).toEqual(before);
  });

  it("a test that fails is a failure", async () => {
    const text = await readFile(join(extension(), "title.ts"), "utf8");
    await writeFile(join(extension(), "title.ts"), text.replace("toUpperCase", "toLowerCase"));
    expect(byItself().status).toBe(1);
  });

  it("runs no test if the manifest or the program is invalid", async () => {
    const programFault = () => Promise.resolve("agent.ts:3:1: no such import");
    expect(await lares(["test", extension()], { programFault })).toBe(1);
    expect(output).toContain("✗ program: agent.ts:3:1: no such import");
    const file = join(extension(), "extension.yaml");
    const fault = { file, line: 1, column: 1, severity: "error", code: "x", message: "wrong" } as const;
    output = "";
    expect(await lares(["test", extension()], { checkDocument: () => Promise.resolve([fault]) })).toBe(1);
    expect(output).toBe(`${file}:1:1  x  wrong\n`);
  });

  it("reports missing tests and a missing extension", async () => {
    await rm(join(extension(), "title.test.ts"));
    expect(await lares(["test", extension()])).toBe(0);
    expect(errors).toContain("no *.test.ts");
    expect(await lares(["test", folder])).toBe(2);
    expect(errors).toContain("is not an extension");
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
