import { Emitter } from "../base/emitter.ts";
import { named } from "../base/named.ts";
import { quotedText, visibleText } from "../base/visible-text.ts";
import type { Decision } from "../base/vocabulary/approval-rule.ts";
import type { MadeSchedule } from "../base/vocabulary/made-schedule.ts";
import { checkPerson } from "../base/vocabulary/principal.ts";
import type { MadeSchedules } from "./made-schedules.ts";
import type { DecisionService } from "../services/ports.ts";
import { timesOf } from "./schedule-question.ts";

/** The number of characters of a prompt, which may be long, in a title. */
const shownPrompt = 200;

/** Returns the service, which lists and revokes the schedules of minds that the person accepted too. */
export function withSchedules(service: DecisionService, schedules: MadeSchedules): DecisionService {
  const changed = new Emitter<void>();
  service.changed.on(() => changed.emit());
  schedules.changed.on(() => changed.emit());
  return {
    changed,
    list: async () => {
      const items = await service.list();
      for (const schedule of schedules.accepted) {
        const { created } = schedule;
        const older = items.findIndex((each) => each.created !== undefined && each.created < created);
        items.splice(older === -1 ? items.length : older, 0, described(schedule));
      }
      return items;
    },
    revoke: async (by, id) => {
      const schedule = schedules.accepted.find((each) => each.id === id);
      if (schedule === undefined) return await service.revoke(by, id);
      checkPerson(by, "revoke a decision");
      await schedules.remove(schedule.agent, id);
      return described(schedule);
    },
  };
}

function described(schedule: MadeSchedule): Decision {
  const { id, agent, prompt, created, runs } = schedule;
  const shown = prompt.length > shownPrompt ? `${prompt.slice(0, shownPrompt).toWellFormed()}…` : prompt;
  return {
    id,
    agent,
    title: `Allow ${visibleText(named(agent))} to begin a conversation by itself, ${timesOf(schedule)}: ${quotedText(shown)}`,
    rules: [],
    created,
    used: runs?.count ?? 0,
    ...(runs === undefined ? {} : { last_used: runs.last }),
  };
}
