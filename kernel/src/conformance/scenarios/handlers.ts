import { isJsonObject } from "../../base/json.ts";
import { guestRequests } from "../../protocol/guest/v1/lifecycle.ts";
import { validate } from "../../protocol/validate.ts";
import {
  actionEntries,
  type Entry,
  entriesOf,
  eventHooks,
  hookEntry,
  jobEntry,
  toolEntries,
} from "../entries.ts";
import type { Answer, Sent } from "../peer.ts";
import { holds, notApplicable, type Verdict, Violation } from "../results.ts";
import { pingFault, resultOf, type Scenario } from "../scenario.ts";

const noManifest = "There is no manifest beside it.";
const noHooks = "It has no hooks for events.";
const noTools = "It has no tools, or none whose arguments could be made.";
/** Hooks that are sent at once to a guest that takes several. */
const hooksAtOnce = 8;
const toolsAtOnce = 24;
const pingsAtOnce = 8;

/** Hooks and tools, alone and at once. */
export const handlers: readonly Scenario[] = [
  {
    rule: "hooks",
    title: "Each `hook` is answered.",
    needs: ["ping", "manifest-handlers"],
    async try(attempt) {
      const { subject, ports } = attempt;
      if (subject.manifest === null) return notApplicable(noManifest);
      const hooks = eventHooks(subject);
      if (hooks.length === 0) return notApplicable(noHooks);
      const { peer } = await attempt.open();
      const errors: string[] = [];
      for (const hook of hooks) {
        const entry = hookEntry(hook, ports);
        noteError(errors, entry, await peer.answerTo(entry.send(peer, attempt.id())));
      }
      await peer.probe("its hooks");
      return tried(hooks.length, errors);
    },
  },
  {
    rule: "hook-order",
    title: "Hooks that are open at the same time are handled one at a time and in order.",
    needs: ["lines", "hooks"],
    async try(attempt) {
      const { subject, ports } = attempt;
      const hooks = eventHooks(subject);
      if (hooks.length === 0) return notApplicable(noHooks);
      const { peer, abilities } = await attempt.open();
      const count = Math.min(abilities.maxOpenHooks, hooksAtOnce);
      if (count < 2) return notApplicable("It takes one hook at a time: it said no `max_open_hooks`.");
      // Held calls are answered the latest first: a guest that handles hooks side by side ends a later one first.
      peer.mode = "hold";
      const sent = Array.from({ length: count }, (_none, index) =>
        hookEntry(hooks[index % hooks.length]!, ports).send(peer, attempt.id()),
      );
      const all = Promise.all(sent.map((each) => peer.answerTo(each)));
      all.catch(() => undefined);
      while (await peer.untilHeld(all)) {
        await peer.probe("hooks that wait for the kernel");
        peer.releaseOne();
      }
      await all;
      const places = sent.map(({ place }) => place ?? 0);
      if (places.some((place, index) => index > 0 && place < places[index - 1]!))
        throw new Violation(`It answered ${count} hooks in another order than they were sent.`);
      return holds(`${count} hooks that were sent at once were answered in order.`);
    },
  },
  {
    rule: "questions",
    title: "A hook with `intercept: true` answers its question with an object.",
    needs: ["ping", "manifest-handlers"],
    async try(attempt) {
      const questions = (attempt.subject.manifest?.hooks ?? []).filter(({ isQuestion }) => isQuestion);
      if (questions.length === 0) return notApplicable("It has no hooks that are asked.");
      const { peer } = await attempt.open();
      const errors: string[] = [];
      for (const hook of questions) {
        const entry = hookEntry(hook, attempt.ports, attempt.id());
        const answer = await peer.answerTo(entry.send(peer, attempt.id()));
        noteError(errors, entry, answer);
        if (answer.kind === "result" && !isJsonObject(answer.result))
          throw new Violation(`It answered the question to ${hook.handler} with no object.`);
      }
      return tried(questions.length, errors);
    },
  },
  {
    rule: "tools",
    title: "Each `tool` is answered with a status and what belongs to it.",
    needs: ["ping", "manifest-handlers"],
    async try(attempt) {
      if (attempt.subject.manifest === null) return notApplicable(noManifest);
      const tools = toolEntries(attempt.subject);
      if (tools.length === 0) return notApplicable(noTools);
      const { peer } = await attempt.open();
      const errors: string[] = [];
      for (const tool of tools) {
        const answer = await peer.answerTo(tool.send(peer, attempt.id()));
        noteError(errors, tool, answer);
        checkToolResult(tool, answer);
      }
      await peer.probe("its tools");
      return tried(tools.length, errors);
    },
  },
  {
    rule: "actions",
    title: "Each named `action` is answered with its effects and a reason.",
    needs: ["ping", "manifest-handlers"],
    async try(attempt) {
      const actions = actionEntries(attempt.subject);
      if (actions.length === 0) return notApplicable("It has no named actions.");
      const { peer } = await attempt.open();
      const errors: string[] = [];
      for (const action of actions) {
        const answer = await peer.answerTo(action.send(peer, attempt.id()));
        noteError(errors, action, answer);
        if (answer.kind === "error") continue;
        const { result } = guestRequests.action;
        const fault = validate(result, answer.result, `The answer to the action ${action.name}`);
        if (fault !== null) throw new Violation(fault.message);
      }
      await peer.probe("its actions");
      return tried(actions.length, errors);
    },
  },
  {
    rule: "ping-while-waiting",
    title: "`ping` is answered at once while handlers wait.",
    needs: ["hooks", "tools", "actions", "jobs"],
    async try(attempt) {
      const { peer, abilities } = await attempt.open();
      const { promptMs } = attempt.ports.patience;
      const waited: string[] = [];
      for (const entry of entriesOf(attempt.subject, abilities, attempt.ports)) {
        peer.mode = "hold";
        const sent = peer.answerTo(entry.send(peer, attempt.id()));
        if (await peer.untilHeld(sent)) {
          waited.push(`${entry.kind} ${entry.name}`);
          await peer.probe(
            `a host call of the ${entry.kind} ${entry.name} that is not answered yet`,
            promptMs,
          );
        }
        peer.release();
        await sent;
      }
      if (waited.length === 0) return notApplicable("No handler waited for a host call.");
      return holds(`It was answered while these waited: ${waited.join(", ")}.`);
    },
  },
  {
    rule: "load",
    title: "Hooks, tools, a job and `ping` may be open together, up to 64, and each is answered.",
    needs: ["lines", "hooks", "tools", "jobs", "ping-while-waiting"],
    async try(attempt) {
      const { subject, ports } = attempt;
      const { peer, abilities } = await attempt.open();
      const hooks = eventHooks(subject);
      const tools = toolEntries(subject);
      const hooksOpen = hooks.length === 0 ? 0 : Math.min(abilities.maxOpenHooks, hooksAtOnce);
      const [job] = abilities.jobs;
      const works: Entry[] = [
        ...Array.from({ length: hooksOpen }, (_none, at) => hookEntry(hooks[at % hooks.length]!, ports)),
        ...(job === undefined ? [] : [jobEntry(job)]),
        ...Array.from(
          { length: tools.length === 0 ? 0 : toolsAtOnce },
          (_none, at) => tools[at % tools.length]!,
        ),
      ];
      const sent: Sent[] = works.map((entry) => entry.send(peer, attempt.id()));
      const pings = Array.from({ length: pingsAtOnce }, () => peer.send("ping", {}));
      for (const ping of pings) {
        const fault = pingFault(resultOf("ping", await peer.answerTo(ping)));
        if (fault !== null) throw new Violation(fault);
      }
      for (const each of sent) await peer.answerTo(each);
      return holds(`${works.length + pings.length} requests that were open together were answered.`);
    },
  },
  {
    rule: "host-call-errors",
    title: "A host call that is refused ends neither its handler without an answer, nor the guest.",
    needs: ["hooks", "tools", "actions", "jobs"],
    async try(attempt) {
      const { peer, abilities } = await attempt.open();
      peer.mode = "refuse";
      for (const entry of entriesOf(attempt.subject, abilities, attempt.ports))
        await peer.answerTo(entry.send(peer, attempt.id()));
      await peer.probe("refused host calls");
      if (peer.seen.length === 0) return notApplicable("No handler made a host call.");
      return holds(`${peer.seen.length} calls were refused, and each handler was answered.`);
    },
  },
  {
    rule: "cancel-tool",
    title: "`cancelTool` is answered at once, of a call that is not open too, and the call ends soon.",
    needs: ["tools"],
    async try(attempt) {
      const { peer, abilities } = await attempt.open();
      if (!abilities.cancelsTools) return notApplicable("It did not say `cancels_tools`.");
      const { promptMs } = attempt.ports.patience;
      checkCancelled(await peer.ask("cancelTool", { call_id: "no-such-call" }, promptMs));
      await peer.probe("cancelTool of an unknown call");
      const tools = toolEntries(attempt.subject);
      let waiting = 0;
      for (const tool of tools) {
        const id = attempt.id();
        peer.mode = "hold";
        const sent = tool.send(peer, id);
        if (await peer.untilHeld(peer.answerTo(sent))) waiting += 1;
        checkCancelled(await peer.ask("cancelTool", { call_id: id }, promptMs));
        peer.cancelHeld();
        await peer.answerTo(sent);
      }
      return holds(`An unknown call and ${tools.length} calls were cancelled, ${waiting} while they waited.`);
    },
  },
];

function checkCancelled(answer: Answer): void {
  if (answer.kind === "error")
    throw new Violation(`It answered cancelTool with an error: ${answer.error.message}`);
}

function noteError(errors: string[], { name }: Entry, answer: Answer): void {
  if (answer.kind === "error") errors.push(`${name} with the error "${answer.error.message}"`);
}

function tried(count: number, errors: readonly string[]): Verdict {
  return holds(errors.length === 0 ? `${count} answered.` : `${count} answered: ${errors.join(", ")}.`);
}

function checkToolResult({ name }: Entry, answer: Answer): void {
  if (answer.kind === "error") return;
  const fault = validate(guestRequests.tool.result, answer.result, `The answer to the tool ${name}`);
  if (fault !== null) throw new Violation(fault.message);
}
