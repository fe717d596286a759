import { openActions } from "../../actions/service/actions.ts";
import type { Actions } from "../../actions/api.ts";
import type { KeptBasis, Origin } from "../../actions/basis.ts";
import { openContentWork } from "../../actions/contents/content-work.ts";
import type { Deliveries } from "../../agents/lifecycle/deliveries.ts";
import type { AgentRoster } from "../../agents/lifecycle/roster.ts";
import type { StoppedWork } from "../../agents/stopped-work.ts";
import type { JsonValue } from "../../base/json.ts";
import type { TaintedContents } from "../../conversations/tainted-contents.ts";
import type { Interception } from "../../interception/interception.ts";
import type { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import { placeOf } from "../../decisions/decision-service.ts";
import type { DecisionStore } from "../../decisions/store.ts";
import type { DecisionUses } from "../../decisions/uses.ts";
import type { Database, Statement } from "../../platform/database/database.ts";
import type { KernelConfiguration } from "./configuration.ts";
import { foreignInEffects } from "./foreign.ts";
import type { KernelFiles } from "./files.ts";
import type { KernelContext } from "./kernel-context.ts";
import type { KernelWorkspace } from "./workspace.ts";

/** Opens the actions, which follow the workspace's changes. Call `recover` before any other use. */
export function openKernelActions(
  { clock, log, opened }: KernelContext,
  parts: {
    readonly database: Database;
    readonly files: KernelFiles;
    readonly configuration: KernelConfiguration;
    readonly workspace: KernelWorkspace;
    readonly agents: AgentRoster;
    readonly deliveries: Deliveries<Statement>;
    readonly uses: DecisionUses;
    readonly interception: Interception;
    readonly stopped: StoppedWork;
    readonly tainted: TaintedContents;
  },
): Actions {
  const { database, agents, deliveries, uses } = parts;
  const { files, objects, unsaved } = parts.files;
  const { decisions, configuration } = parts.configuration;
  const { workspace } = parts.workspace;
  const contents = openContentWork(files);
  const actions = opened.use(
    openActions({
      database,
      files,
      contents,
      objects,
      clock,
      log,
      metadata: {
        ...workspace.metadata,
        sidecar: (path, sidecar) =>
          workspace.readSidecar(path, sidecar) as Promise<{ data: JsonValue } | null>,
      },
      settings: () => ({
        rules: configuration.rules,
        autoApproveBelow: configuration.configuration.approvals.autoApproveBelow,
        expireAfterMs: configuration.configuration.approvals.expireAfterMs,
      }),
      authorityOf: (agent) => agents.authorityOf(agent),
      openWithUnsavedChanges: (paths) => unsaved.among(paths),
      copies: (content) => workspace.copies(content, () => true).paths,
      index: workspace.view,
      beforeAction: (action, lineage) => {
        const { interception, tainted } = parts;
        const isAsked = lineage.onBehalfOf.some(
          (actor) => actor.kind === "process" && interception.isAsked("BeforeAction", actor.agent),
        );
        if (!isAsked) return null;
        // The extensions that are asked read what the action shows of files.
        return foreignInEffects(tainted, action.effects).then(async (shown) => {
          const sources = [...new Set([...(action.sources ?? []), ...Object.keys(shown)])];
          await interception.beforeAction({ action: { ...action, sources }, lineage });
        });
      },
      checkGoesOn: (lineage) => parts.stopped.check(lineage),
      touched: (paths) => workspace.touched(paths),
      tellEnd: (agent, end) => deliveries.tell(agent, "ActionEnded", { ...end }),
      remember: (rules) => decisions.store.remember(rules),
      originOf: (basis) => originOf(decisions, configuration, basis),
      used: (origins) => uses.used(origins),
    }),
  );
  // Closed before the actions, so that an agent's requests do not delay the kernel's shutdown.
  opened.use(contents);
  parts.workspace.changed.on((changes) => actions.workspaceChanged(changes));
  return actions;
}

/** The place of a rule or setting in a document, and the decision that a rule belongs to. */
function originOf(
  { store, file }: { readonly store: DecisionStore; readonly file: string },
  configuration: Pick<ConfigurationManager, "placeOf">,
  basis: Pick<KeptBasis, "rule" | "setting">,
): Origin {
  const decision = basis.rule === undefined ? null : store.decisionOf(basis.rule);
  const place = decision === null ? configuration.placeOf(basis) : placeOf(store, file, decision);
  return {
    ...(place === null ? {} : { place }),
    ...(decision === null ? {} : { decision: decision.id }),
  };
}
