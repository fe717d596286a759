import { isLaresError, messageOf } from "../../base/errors.ts";
import { guestRequests } from "../../protocol/guest/v1/lifecycle.ts";
import { validate } from "../../protocol/validate.ts";
import { bounds } from "../ports.ts";
import { holds, notApplicable, Violation } from "../results.ts";
import { pingFault, resultOf, type Scenario } from "../scenario.ts";

/** From loading a module to its end. */
export const lifecycle: readonly Scenario[] = [
  {
    rule: "imports",
    title: "The module is a WASI preview 1 command that imports nothing else, and fits into its memory.",
    needs: [],
    async try(attempt) {
      try {
        await attempt.start();
      } catch (error) {
        if (isLaresError(error, "AgentError") && error.facts["reason"] === "program")
          throw new Violation(messageOf(error));
        throw error;
      }
      return holds("It was loaded.");
    },
  },
  {
    rule: "initialize",
    title: "The answer to `initialize` lists `handlers`, `tools` and `jobs`.",
    needs: ["imports"],
    async try(attempt) {
      const { handlers, tools, jobs, actions, tasks, migrations } = (await attempt.initialized()).abilities;
      const lists = Object.entries({ handlers, tools, jobs, actions, tasks, migrations });
      return holds(
        `It has ${lists.map(([name, list]) => `${name}: ${list.length === 0 ? "none" : list.join(", ")}`).join("; ")}.`,
      );
    },
  },
  {
    rule: "manifest-handlers",
    title: "The program has every handler that the manifest names.",
    needs: ["initialize"],
    async try(attempt) {
      const { manifest } = attempt.subject;
      if (manifest === null) return notApplicable("There is no manifest beside it.");
      const { handlers, tools, actions } = (await attempt.initialized()).abilities;
      const wanted = [
        ...manifest.hooks.filter(({ handler }) => !handlers.includes(handler)),
        ...manifest.tools.filter(({ handler }) => !tools.includes(handler)),
        ...manifest.actions.filter(({ handler }) => !actions.includes(handler)),
      ];
      if (wanted.length === 0)
        return holds(
          `Hooks: ${manifest.hooks.length}; tools and commands: ${manifest.tools.length}; actions: ${manifest.actions.length}.`,
        );
      const names = wanted.map(({ handler }) => `"${handler}"`).join(", ");
      throw new Violation(`It did not list ${names}, which the manifest names.`);
    },
  },
  {
    rule: "migrations",
    title: "`migrate` is answered before `startup`, with as many values as it was sent.",
    needs: ["initialize"],
    async try(attempt) {
      const { peer, abilities } = await attempt.initialized();
      if (abilities.migrations.length === 0) return notApplicable("It has no migrations.");
      for (const type of abilities.migrations.slice(0, bounds.maxTried))
        for (const values of [[], [{}]]) {
          const answer = await peer.ask("migrate", { type, from: 1, values });
          // A value of no known form may be refused.
          if (answer.kind === "error" && values.length > 0) continue;
          const result = resultOf("migrate", answer);
          const fault = validate(guestRequests.migrate.result, result, "The answer to migrate");
          if (fault !== null) throw new Violation(fault.message);
          const { length } = (result as { values: readonly unknown[] }).values;
          if (length !== values.length)
            throw new Violation(`It was sent ${values.length} values of ${type}, and answered ${length}.`);
        }
      return holds(`Answered: ${abilities.migrations.join(", ")}.`);
    },
  },
  {
    rule: "startup",
    title: "`startup` is answered.",
    needs: ["initialize"],
    async try(attempt) {
      const { peer } = await attempt.initialized();
      const answer = await attempt.startup(peer);
      return holds(
        answer.kind === "result" ? "Answered." : `Answered with an error: ${answer.error.message}`,
      );
    },
  },
  {
    rule: "ping",
    title: "`ping` is answered at once, with an object.",
    needs: ["startup"],
    async try(attempt) {
      const { peer } = await attempt.open();
      const result = resultOf("ping", await peer.ask("ping", {}, attempt.ports.patience.promptMs));
      const fault = pingFault(result);
      if (fault !== null) throw new Violation(fault);
      return holds("Answered.");
    },
  },
  {
    rule: "permission-change",
    title: "`permissionChange` is answered.",
    needs: ["ping"],
    async try(attempt) {
      const { peer } = await attempt.open();
      const { permissions } = attempt.subject;
      const answer = await peer.ask("permissionChange", { permissions, locations: ["notes"], models: [] });
      await peer.probe("permissionChange");
      return holds(
        answer.kind === "result" ? "Answered." : `Answered with an error: ${answer.error.message}`,
      );
    },
  },
  {
    rule: "shutdown",
    title: "`shutdown` is answered, and the guest exits within 2 seconds.",
    needs: ["startup"],
    async try(attempt) {
      const { peer } = await attempt.open();
      const { promptMs, exitMs } = attempt.ports.patience;
      await peer.ask("shutdown", {}, promptMs);
      return holds(`Answered. ${await peer.untilEnded(exitMs)}`);
    },
  },
];
