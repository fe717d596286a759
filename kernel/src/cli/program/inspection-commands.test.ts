import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LaresError } from "../../base/errors.ts";
import { aConversation } from "../chat/testing/chat-walk.ts";
import { anAsk, aJob, anAction, anAgent, aNotification, aTrace } from "../testing/fake-kernel.ts";
import { testShell } from "../testing/test-shell.ts";

const shell = testShell();
const { lares } = shell;

describe("inspecting and deciding from a script", () => {
  it("traces are read oldest first", async () => {
    shell.kernel.traces = [aTrace("first"), aTrace("second")];
    expect(await lares(["traces", shell.folder, "--since", "1h"])).toBe(0);
    expect(shell.output.indexOf("first")).toBeLessThan(shell.output.indexOf("second"));
  });

  it("an action is found by the end of its id; undo prints the result", async () => {
    shell.kernel.actions.set("0199-aaaa1111", anAction("0199-aaaa1111", { state: "Committed" }));
    expect(await lares(["actions", shell.folder])).toBe(0);
    expect(shell.output).toContain("aaaa1111");
    expect(await lares(["actions", shell.folder, "undo", "aaaa1111"])).toBe(0);
    expect(shell.output).toContain("• undone");
    expect(shell.kernel.actions.get("0199-aaaa1111")?.state).toBe("Undone");
  });

  it("an approval that ends in another state than done is a failure", async () => {
    shell.kernel.actions.set(
      "0199-aaaa1111",
      anAction("0199-aaaa1111", { digest: `sha256:${"b".repeat(64)}` }),
    );
    shell.kernel.actions.set("0199-bbbb2222", anAction("0199-bbbb2222"));
    expect(await lares(["actions", shell.folder, "approve", "2222", "--effects", "0", "--json"])).toBe(0);
    expect(JSON.parse(shell.output)).toMatchObject({ state: "Committed" });
    expect(shell.kernel.requests.at(-1)?.params).toMatchObject({ effects: [0], remember: "once" });
  });

  it("a tool's value is printed, its error is a failure", async () => {
    expect(await lares(["tools", shell.folder, "call", "dev.lares.filetypes/summary", '{"top": 1}'])).toBe(0);
    expect(JSON.parse(shell.output)).toEqual({ total: 3 });
    shell.kernel.toolResult = { status: "error", message: "no\u001b[31m", recoverable: false };
    expect(await lares(["tools", shell.folder, "call", "dev.lares.filetypes/summary"])).toBe(1);
    expect(shell.errors).toContain("error: no␛[31m");
  });

  it("a command of an extension is listed with its parameters, and run with them", async () => {
    shell.kernel.commands = [
      {
        agent: "a.b",
        name: "album",
        title: "Create …\u001b[31m",
        description: "",
        parameters: { required: ["name"], properties: { name: { type: "string" }, width: {} } },
      },
    ];
    expect(await lares(["commands", shell.folder])).toBe(0);
    expect(shell.output).toContain("a.b/album  { name, width? }");
    expect(shell.output).not.toContain("\u001b");
    expect(await lares(["commands", shell.folder, "run", "a.b/album", "Summer"])).toBe(0);
    expect(shell.kernel.requests.at(-1)?.params).toEqual({
      agent: "a.b",
      name: "album",
      arguments: { name: "Summer" },
    });
    shell.kernel.toolResult = { status: "success", value: { action: "a1", state: "PendingApproval" } };
    expect(await lares(["commands", shell.folder, "run", "a.b/album", '{"width": 1}'])).toBe(3);
    expect(shell.output).toContain("A change waits for you: lares actions show a1");
    shell.kernel.toolResult = { status: "error", message: "no", recoverable: false };
    expect(await lares(["commands", shell.folder, "run", "a.b/album"])).toBe(1);
  });

  it("jobs are listed with their state, with untrusted text made safe", async () => {
    expect(await lares(["jobs", shell.folder])).toBe(0);
    expect(shell.output).toContain("No job is queued or running.");
    shell.output = "";
    shell.kernel.jobs = [
      aJob("job-running1", { state: "Running", progress: { fraction: 0.409, message: "no\u001b[31m" } }),
      aJob("job-waiting1", { when_idle: true, priority: "low", checkpoint: true }),
      aJob("job-cancell1", { state: "Cancelling", name: "a\nb" }),
    ];
    expect(await lares(["jobs", shell.folder])).toBe(0);
    expect(shell.output).toMatch(/running1 .*running .*40 % · no␛\[31m/);
    expect(shell.output).toMatch(/waiting1 .*queued .*low .*starts when the workspace is quiet/);
    expect(shell.output).toMatch(/cancell1 .*being cancelled/);
    expect(shell.output).not.toContain("\u001b");
    shell.output = "";
    expect(await lares(["jobs", shell.folder, "--json", "--agent", "dev.lares.storage"])).toBe(0);
    expect(JSON.parse(shell.output)).toEqual({ items: shell.kernel.jobs, total: 3 });
    expect(shell.kernel.requests.at(-1)).toEqual({
      method: "lares/jobs/list",
      params: { agent: "dev.lares.storage", limit: 1000 },
    });
  });

  it("a dead job is listed with its last error, retried and removed by the end of its id", async () => {
    shell.kernel.jobs = [
      aJob("11111111-1111-7111-8111-00000000001a"),
      aJob("11111111-1111-7111-8111-0000000000dd", { state: "Dead", error: "no\u001b[31m such\nhost" }),
    ];
    expect(await lares(["jobs", shell.folder, "--dead"])).toBe(0);
    expect(shell.output).toMatch(/dead .*no.*such.*host/);
    expect(shell.output).not.toContain("00001a");
    expect(await lares(["jobs", shell.folder, "retry", "dd"])).toBe(0);
    expect(shell.output).toContain("runs again");
    expect(shell.kernel.requests.at(-1)).toEqual({
      method: "lares/jobs/retry",
      params: { id: "11111111-1111-7111-8111-0000000000dd" },
    });
    expect(await lares(["jobs", shell.folder, "remove", "dd"])).toBe(0);
    expect(shell.output).toContain("removed");
    expect(await lares(["jobs", shell.folder, "retry", "1a"])).toBe(2);
    expect(shell.errors).toContain('"lares jobs --dead" lists them');
  });

  it("a job is cancelled by the end of its id if that is unambiguous", async () => {
    shell.kernel.jobs = [
      aJob("11111111-1111-7111-8111-00000000000a"),
      aJob("11111111-1111-7111-8111-00000000001a"),
    ];
    expect(await lares(["jobs", shell.folder, "cancel", "1a"])).toBe(0);
    expect(shell.output).toContain("cancelled  survey");
    expect(shell.kernel.requests.at(-1)).toEqual({
      method: "lares/jobs/cancel",
      params: { id: "11111111-1111-7111-8111-00000000001a" },
    });
    expect(await lares(["jobs", shell.folder, "cancel", "a"])).toBe(2);
    expect(shell.errors).toContain('"a" can mean 2 open jobs: 0000000a "survey", 0000001a "survey"');
    expect(await lares(["jobs", shell.folder, "cancel", "bb"])).toBe(2);
    expect(await lares(["jobs", shell.folder, "cancel", "11111111-1111-7111-8111-0000000000bb"])).toBe(1);
    expect(shell.errors).toContain("There is no job");
  });

  it("notifications are listed with their counts and made safe, dismissed, and their button shows the action", async () => {
    expect(await lares(["notifications", shell.folder])).toBe(0);
    expect(shell.output).toContain("No notification is new.");
    shell.kernel.notifications = [
      aNotification("11111111-00000001a", { title: "Full\u001b", count: 3, action: "a1" }),
      aNotification("11111111-00000001b"),
      aNotification("11111111-00000001c", { state: "Dismissed" }),
    ];
    shell.output = "";
    expect(await lares(["notifications", shell.folder])).toBe(0);
    expect(shell.output).toMatch(
      /! Full␛ \(3 times\) {2}dev\.lares\.storage\n {2}film\.mp4\n {2}0000001a .*proposes a change/,
    );
    expect(shell.output).toContain("lares notifications act 0000001a");
    expect(shell.output).not.toContain("0000001c");
    shell.output = "";
    expect(await lares(["notifications", shell.folder, "--all", "--json"])).toBe(0);
    expect(JSON.parse(shell.output)).toEqual({ items: shell.kernel.notifications, total: 3 });
    shell.output = "";
    expect(await lares(["notifications", shell.folder, "act", "1a"])).toBe(0);
    expect(shell.output).toContain("lares review");
    expect(await lares(["notifications", shell.folder, "dismiss", "1b"])).toBe(0);
    expect(await lares(["notifications", shell.folder, "dismiss", "--all"])).toBe(0);
    expect(shell.output).toContain("✓ dismissed 2 notifications");
    expect(
      shell.kernel.requests.filter(({ method }) => method === "lares/notifications/dismiss"),
    ).toMatchObject([
      { params: { ids: ["11111111-00000001b"] } },
      { params: { ids: ["11111111-00000001a", "11111111-00000001b"] } },
    ]);
    expect(await lares(["notifications", shell.folder, "act", "zz"])).toBe(2);
    expect(shell.errors).toContain('No notification has an id that ends in "zz"');
  });

  it("questions are listed with why they are asked, and answered by the end of their id", async () => {
    expect(await lares(["asks", shell.folder])).toBe(0);
    expect(shell.output).toContain("No question waits for you.");
    shell.kernel.asks = [
      anAsk("11111111-00000001a", { title: "May it?\u001b" }),
      anAsk("11111111-00000001b"),
    ];
    shell.output = "";
    expect(await lares(["asks", shell.folder])).toBe(0);
    expect(shell.output).toMatch(/\? May it\?␛\n {2}None is named\.\n {2}0000001a {2}dev\.lares\.storage/);
    shell.output = "";
    expect(await lares(["asks", shell.folder, "--json", "--all"])).toBe(0);
    expect(JSON.parse(shell.output)).toEqual(shell.kernel.asks);
    expect(await lares(["asks", shell.folder, "allow", "1b"])).toBe(0);
    expect(shell.output).toContain("✓ allowed  May agents use it?");
    expect(await lares(["asks", shell.folder, "deny", "1a", "--always"])).toBe(0);
    expect(shell.kernel.requests.filter(({ method }) => method === "lares/asks/answer")).toMatchObject([
      { params: { id: "11111111-00000001b", allow: true, digest: shell.kernel.asks[1]?.digest } },
      { params: { id: "11111111-00000001a", allow: false, remember: "always" } },
    ]);
    expect(await lares(["asks", shell.folder, "allow", "zz"])).toBe(2);
    expect(shell.errors).toContain('No question that waits has an id that ends in "zz"');
  });

  it("conversations are listed, proven, and deleted by the end of their id", async () => {
    shell.kernel.memories.set("lares/conversations/list", { items: [] });
    expect(await lares(["conversations", shell.folder])).toBe(0);
    expect(shell.output).toContain("There is no conversation here.");
    const titled = { ...aConversation, id: "11111111-00000001a", title: "Notes\u001b" };
    const archived = { ...aConversation, id: "11111111-00000001b", title: "", state: "archived", unread: 2 };
    shell.kernel.memories.set("lares/conversations/list", { items: [titled, archived] });
    shell.output = "";
    expect(await lares(["conversations", shell.folder, "--all"])).toBe(0);
    expect(shell.output).toMatch(/0000001a .*Notes␛/);
    expect(shell.output).toMatch(/0000001b +2 unread .*Without a title/);
    shell.output = "";
    expect(await lares(["conversations", shell.folder, "--json"])).toBe(0);
    expect(
      shell.output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([titled, archived]);
    const bad = { ok: false, records: 4, head: "a".repeat(64), firstBad: { seq: 5, reason: "changed" } };
    shell.kernel.memories.set("lares/conversations/verify", bad);
    shell.output = "";
    expect(await lares(["conversations", shell.folder, "verify", "1a"])).toBe(1);
    expect(shell.output).toMatch(/✗ 0000001a {2}Notes␛ {2}chain broken at record 5: changed/);
    shell.kernel.memories.set("lares/conversations/verify", { ok: true, records: 4, head: "a".repeat(64) });
    expect(await lares(["conversations", shell.folder, "verify"])).toBe(0);
    shell.kernel.memories.set("lares/conversations/delete", { kept_for_forks: true });
    expect(await lares(["conversations", shell.folder, "delete", "1b", "--yes"])).toBe(0);
    expect(shell.output).toContain("✓ deleted; what its forks have of it stays until they are deleted");
    expect(
      shell.kernel.requests.filter(({ method }) => method === "lares/conversations/delete"),
    ).toMatchObject([{ params: { id: "11111111-00000001b" } }]);
    expect(await lares(["conversations", shell.folder, "verify", "zz"])).toBe(2);
    expect(shell.errors).toContain('No conversation has an id that ends in "zz"');
  });

  it("a suspended schedule is shown with how to resume it, and resumed by its number", async () => {
    const suspended = { since: "2026-11-20T10:00:00.000Z", error: "broken\u001b" };
    shell.kernel.agents = [anAgent("dev.x", { hooks: [{ handler: "tidy", schedule: "@daily", suspended }] })];
    expect(await lares(["agents", shell.folder])).toBe(0);
    expect(shell.output.replaceAll(/\s+/g, " ")).toMatch(
      /the schedule of tidy \(@daily\) is suspended since .*; lares agents resume dev\.x --hook 0 resumes it\. Three runs in a row failed: broken␛/,
    );
    expect(await lares(["agents", shell.folder, "resume", "dev.x", "--hook", "0"])).toBe(0);
    expect(shell.kernel.requests.filter(({ method }) => method === "lares/agents/control")).toMatchObject([
      { params: { id: "dev.x", command: "resume", hook: 0 } },
    ]);
  });

  it("decisions are listed as sentences, and revoked by the end of their id", async () => {
    expect(await lares(["decisions", shell.folder])).toBe(0);
    // Something may have been revoked, and a schedule is accepted without "always".
    expect(shell.output).toContain("No decision is remembered here now.");
    expect(shell.output).not.toContain("not answered yet");
    const rules = [{ decide: "allow", agent: "dev.x", kind: "file.edit", path: "a" }] as const;
    const decision = { title: "Allow edits\u001b", rules: [...rules], used: 2 };
    shell.kernel.decisions = [
      { ...decision, id: "11111111-00000001a", created: "2026-11-20T10:00:00.000Z" },
      { ...decision, id: "rule-00000001b", last_used: "2026-11-20T10:00:00.000Z" },
    ];
    shell.output = "";
    expect(await lares(["decisions", shell.folder])).toBe(0);
    expect(shell.output).toMatch(/0000001a .*2 times .*Allow edits␛/);
    expect(shell.output).toMatch(/0000001b +by hand +2 times, last .*Allow edits␛/);
    shell.output = "";
    expect(await lares(["decisions", shell.folder, "--json"])).toBe(0);
    expect(JSON.parse(shell.output)).toEqual({ items: shell.kernel.decisions });
    expect(await lares(["decisions", shell.folder, "revoke", "1b"])).toBe(0);
    expect(shell.kernel.requests.at(-1)).toEqual({
      method: "lares/decisions/revoke",
      params: { id: "rule-00000001b" },
    });
    expect(await lares(["decisions", shell.folder, "revoke", "zz"])).toBe(2);
    expect(shell.errors).toContain('No decision has an id that ends in "zz"');
  });

  it("--scope remembers the rules that were offered; --always and scopes that are not offered are refused", async () => {
    const rules = [{ decide: "allow", agent: "dev.x", kind: "file.move", path: "inbox/**" }] as const;
    const scopes = [{ id: "folder" as const, title: "This folder: moves", rules: [...rules] }];
    shell.kernel.actions.set("a", anAction("a", { scopes }));
    shell.kernel.actions.set("b", anAction("b", { asked_because: { sentence: "It is asked each time." } }));
    const approve = (id: string, ...options: string[]) =>
      lares(["actions", shell.folder, "approve", id, ...options]);
    expect(await approve("a", "--always")).toBe(2);
    expect(shell.errors).toContain("--always would not cover this change. Possible: --scope folder.");
    expect(await approve("b", "--always")).toBe(2);
    expect(shell.errors).toContain("--always is not possible here. It is asked each time.");
    expect(await approve("b", "--scope", "kind")).toBe(2);
    expect(shell.kernel.requests.filter(({ method }) => method === "lares/actions/approve")).toEqual([]);
    expect(await approve("a", "--scope", "folder")).toBe(0);
    expect(shell.kernel.requests.at(-1)).toMatchObject({ params: { id: "a", rules } });
  });

  it("a broken chain of records is a failure", async () => {
    shell.kernel.verification = {
      ok: false,
      records: 3,
      head: "",
      firstBad: { seq: 2, reason: "hash differs" },
    };
    expect(await lares(["memory", "verify", shell.folder, "--agent", "dev.lares.storage"])).toBe(1);
    expect(shell.output).toContain("chain broken at record 2: hash differs");
  });

  it("an untrusted workspace's error says how to accept it", async () => {
    const message = "This workspace is not trusted. A person can accept it with lares/trust.";
    const connect = () => Promise.reject(new LaresError("Untrusted", message));
    expect(await lares(["agents", shell.folder], { connect })).toBe(1);
    expect(shell.errors).toContain("This workspace is not trusted");
    expect(shell.errors).toContain("`lares run` shows them and asks");
    expect(shell.errors).not.toContain("lares/trust");
  });

  it("doctor fails if the sandbox fails", async () => {
    const stateHome = () => join(shell.folder, "state");
    expect(await lares(["doctor"], { stateHome })).toBe(0);
    expect(shell.output).toContain("✓ sandbox");
    const probeSandbox = () => Promise.reject(new Error("no WebAssembly"));
    expect(await lares(["doctor"], { stateHome, probeSandbox })).toBe(1);
    expect(shell.output).toContain("✗ sandbox        no WebAssembly");
  });
});
