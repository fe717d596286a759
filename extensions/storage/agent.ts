import { defineAgent, type Action, type ActionEnded } from "@lares/sdk";
import { sizeOf } from "./cold.ts";
import { coldFiles, proposeCold } from "./cold-proposals.ts";
import type { Memory } from "./context.ts";
import { everyFile } from "./files.ts";
import { findGroups, wasted } from "./groups.ts";
import { lookAgain, lookAtAll, lookAtCopies, lookAtFile, lookAtLargeWithout } from "./look.ts";
import { coldIn, nothingYet, unasked } from "./memory.ts";
import { proposeFor, refreshOpen } from "./proposals.ts";
import { settingsOf } from "./settings.ts";
import { reasonFor } from "./wording.ts";

export default defineAgent<Memory>({
  memory: { plan: nothingYet() },

  hooks: {
    async appeared({ entry, changed_fields }, ctx) {
      const memory = await ctx.memory.plan.read();
      // Until the first index is complete, files are not examined one by one but together at its end.
      if (!memory.indexed) return;
      if (Array.isArray(changed_fields) && changed_fields.every(isAboutMarks)) return;
      await lookAgain(ctx);
      await lookAtFile(ctx, entry.path);
    },
    async decided(ended: ActionEnded, ctx) {
      await refreshOpen(ctx);
      const memory = await ctx.memory.plan.read();
      const { asked, more } = memory;
      const { open, moved } = coldIn(memory);
      if ([...moved, open].some((proposal) => proposal?.action === ended.action)) {
        await proposeCold(ctx);
        return;
      }
      // There is room for the next proposal.
      if (more) return lookAtAll(ctx);
      // A file of the group changed: the others may still have the same content.
      const about = asked.find(({ action }) => action === ended.action);
      if (ended.state === "Stale" && ended.superseded_by === undefined && about !== undefined)
        await lookAtCopies(ctx, about.content_id);
    },
    async disappeared({ entry_id }, ctx) {
      await lookAtLargeWithout(ctx, entry_id);
    },
    async indexed(_event, ctx) {
      await lookAtAll(ctx);
      await proposeCold(ctx);
    },
  },

  tools: {
    async duplicates({ limit = 50 }: { limit?: number }, ctx) {
      const groups = findGroups(await everyFile(ctx), settingsOf(ctx.config));
      const { asked } = await ctx.memory.plan.read();
      return {
        groups: groups.slice(0, limit).map((group) => ({
          ...group,
          reason: reasonFor(group),
          wasted_bytes: wasted(group),
          proposed: unasked(group.extra, group.content_id, asked, { again: false }).length === 0,
        })),
        total_groups: groups.length,
        total_wasted_bytes: groups.reduce((sum, group) => sum + wasted(group), 0),
      };
    },
    async propose({ content_id, again = false }: { content_id?: string; again?: boolean }, ctx) {
      await refreshOpen(ctx);
      const groups = findGroups(await everyFile(ctx), settingsOf(ctx.config));
      const wanted =
        content_id === undefined ? groups : groups.filter((group) => group.content_id === content_id);
      const proposed = await proposeFor(ctx, wanted, { again });
      return {
        proposed: proposed.map(actionWords),
        groups: wanted.length,
      };
    },
    async coldFiles({ limit = 50 }: { limit?: number }, ctx) {
      const { files, note } = await coldFiles(ctx);
      const { open, refused } = coldIn(await ctx.memory.plan.read());
      const proposed = new Set(open?.files.map(({ id }) => id));
      const unwanted = new Set(refused);
      return {
        files: files.slice(0, limit).map(({ id, ...file }) => ({
          ...file,
          proposed: proposed.has(id),
          refused: unwanted.has(id),
        })),
        total_files: files.length,
        total_bytes: sizeOf(files),
        folder: settingsOf(ctx.config).cold_folder,
        ...(note === null ? {} : { note }),
      };
    },
    async proposeCold({ again = false }: { again?: boolean }, ctx) {
      if (settingsOf(ctx.config).cold_folder === null)
        throw new Error(
          "No folder for cold files is named. Write cold_folder: cold into the config of dev.lares.storage in lares.yaml.",
        );
      const made = await proposeCold(ctx, { isAsked: true, again });
      return { proposed: made === null ? null : actionWords(made) };
    },
  },
});

function actionWords({ id, title, state, impact_score }: Action): object {
  return { id, title, state, impact_score };
}

/** Tags, fields and sidecars are not part of the content. */
function isAboutMarks(field: unknown): boolean {
  return field === "tags" || field === "fields" || field === "sidecars";
}
