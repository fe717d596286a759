import { maxRejectionReason } from "../../../kernel/src/base/vocabulary/bounds.ts";
import { commands, Disposable, window } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { decisionWordsOf, saidBy } from "../model/decision-words.ts";
import { appliedOf } from "../model/effect-text.ts";
import { count, label, message } from "../model/text.ts";
import { weightText } from "../model/weight.ts";
import type { Action } from "../protocol.ts";
import { actionArgument, type ActionArgument } from "../deciding/arguments.ts";
import { confirmUndo } from "../deciding/confirm-undo.ts";
import { approveShown, confirmAlone, requestedByLine, type Approving } from "../deciding/decide.ts";
import { reporting } from "../deciding/explain.ts";

/** How long a successful outcome stays in the status bar. */
const outcomeMs = 6_000;
/** The number of effects that are offered one by one. */
const maxChoices = 1000;

/** Approve, reject, undo and their variants, for every place that offers them. */
export const approvalCommands: Feature = (context) => {
  const register = (
    id: string,
    words: Words,
    run: (action: Action, argument: ActionArgument) => Promise<unknown> | void,
  ): Disposable =>
    commands.registerCommand(id, (given?: unknown) =>
      reporting(words.failure, async () => {
        const argument = actionArgument(given) ?? (await pick(context, words));
        if (argument === undefined) return;
        const action = context.models.actions.get(argument.id) ?? (await fetch(context, argument.id));
        await run(action, argument);
      }),
    );
  const waiting = { choose: pending, none: "Nothing waits for you." };
  const approving = { ...waiting, failure: "Not approved" };
  return Disposable.from(
    register("lares.approve", { ...approving, title: "Approve" }, (action, argument) =>
      approve(context, action, argument),
    ),
    register(
      "lares.approveSome",
      {
        ...approving,
        title: "Approve Some",
        choose: severalPending,
        none: "Nothing with several changes waits for you.",
      },
      (action, argument) => approveSome(context, action, argument),
    ),
    register("lares.approveAlways", { ...approving, title: "Always Approve" }, (action, argument) =>
      approveAlways(context, action, argument),
    ),
    register("lares.reject", { ...waiting, title: "Reject", failure: "Not rejected" }, (action, argument) =>
      reject(context, action, argument),
    ),
    register(
      "lares.rejectWithReason",
      { ...waiting, title: "Reject with a Reason", failure: "Not rejected" },
      (action, argument) => reject(context, action, argument, "for a reason"),
    ),
    register(
      "lares.rebase",
      {
        title: "Fit to the New Text",
        failure: "It does not fit the new text",
        choose: outdated,
        none: "No outdated change fits the new text.",
      },
      (action) => rebase(context, action),
    ),
    register(
      "lares.undo",
      {
        title: "Undo",
        failure: "Not undone",
        choose: undoable,
        none: "No recent change can be undone.",
      },
      (action) => undo(context, action),
    ),
  );
};

interface Words {
  /** The title of the list to choose from if the command is called without an action. */
  readonly title: string;
  /** The beginning of the error message. */
  readonly failure: string;
  readonly choose: (context: Pick<ClientContext, "models">) => readonly Action[];
  /** The message if there is nothing to choose from. */
  readonly none: string;
}

function pending({ models }: Pick<ClientContext, "models">): readonly Action[] {
  return models.actions.pending;
}

function severalPending({ models }: Pick<ClientContext, "models">): readonly Action[] {
  return models.actions.pending.filter(({ effects }) => effects.length > 1);
}

function outdated({ models }: Pick<ClientContext, "models">): readonly Action[] {
  return models.actions.recent.filter(({ rebasable }) => rebasable === true);
}

function undoable({ models }: Pick<ClientContext, "models">): readonly Action[] {
  return models.actions.recent.filter(({ state }) => state === "Committed");
}

/** Approves an action, after a separate question if it is large or deletes something. */
async function approve(
  context: ClientContext,
  action: Action,
  { digest, effects }: ActionArgument,
  more: Partial<Approving> = {},
): Promise<void> {
  if (action.state !== "PendingApproval") return tellDecided(action, " Nothing was done now.");
  const sure = await confirmAlone(action, effects);
  if (sure === "show") return void commands.executeCommand("lares.showChanges", { id: action.id });
  if (sure === "no") return;
  const done = await busy(() =>
    approveShown(context, action, {
      digest: (digest as Action["digest"] | undefined) ?? action.digest,
      effects,
      answeredBy: effects === undefined ? "lares.approve" : "lares.approveSome",
      ...more,
    }),
  );
  if (done !== undefined) tellOutcome(done);
}

/** Lets the person pick effects: from all of them, or from those that they have just looked at. */
async function approveSome(context: ClientContext, action: Action, argument: ActionArgument): Promise<void> {
  if (action.state !== "PendingApproval") return tellDecided(action, " Nothing was done now.");
  const items = action.effects.slice(0, maxChoices).map((effect, index) => ({
    label: decisionWordsOf(effect),
    picked: argument.effects?.includes(index) ?? true,
    index,
  }));
  const picked = await window.showQuickPick(items, {
    canPickMany: true,
    title: "Approve Some",
    placeHolder: "Changes that are not selected are dropped",
  });
  if (picked === undefined || picked.length === 0) return;
  const isAll = picked.length === action.effects.length;
  const shown = { id: action.id, digest: argument.digest ?? action.digest };
  await approve(context, action, isAll ? shown : { ...shown, effects: picked.map(({ index }) => index) });
}

/** Lets the person choose how far to remember the approval, from what the kernel offers for this action. */
async function approveAlways(
  context: ClientContext,
  action: Action,
  argument: ActionArgument,
): Promise<void> {
  if (action.state !== "PendingApproval") return tellDecided(action, " Nothing was done now.");
  const agent = label(context.models.agents.nameOf(action.agent), 80);
  const { scopes = [], asked_because: why } = action;
  if (scopes.length === 0) {
    void window.showInformationMessage(
      `This is asked each time. ${message(why?.sentence ?? "No rule can allow it beforehand.")}`,
    );
    return;
  }
  const chosen = await window.showQuickPick(
    scopes.map(({ title, rules }) => ({ label: message(title, 2_000), rules })),
    {
      title: `Always Allow ${agent}…`,
      placeHolder: [...requestedByLine(action), "Approve this, and allow without asking from now on"].join(
        " ",
      ),
    },
  );
  if (chosen === undefined) return;
  await approve(
    context,
    action,
    { ...argument, digest: argument.digest ?? action.digest },
    {
      rules: chosen.rules,
      answeredBy: "lares.approveAlways",
    },
  );
}

async function reject(
  context: ClientContext,
  action: Action,
  { digest, effects }: ActionArgument,
  asks: "for a reason" | "nothing" = "nothing",
): Promise<void> {
  if (action.state !== "PendingApproval") return tellDecided(action, " Nothing was done now.");
  if (effects !== undefined && effects.length < action.effects.length) {
    const all = "Reject All";
    const some = "Approve Some…";
    const answer = await window.showWarningMessage(
      `This is a part of “${message(action.title, 80)}”. Reject all ${count(action.effects.length, "change")}?`,
      { modal: true, detail: "To drop only some of them, approve the others." },
      all,
      some,
    );
    if (answer === some)
      return approveSome(context, action, { id: action.id, ...(digest === undefined ? {} : { digest }) });
    if (answer !== all) return;
  }
  let reason = "";
  if (asks === "for a reason") {
    const agent = label(context.models.agents.nameOf(action.agent), 80);
    const given = await window.showInputBox({
      title: `Reject “${message(action.title, 80)}”`,
      prompt: `Why not? ${agent} reads this. Leave it empty to reject without a reason.`,
      validateInput: (text) =>
        text.length > maxRejectionReason
          ? `At most ${maxRejectionReason.toLocaleString("en")} characters.`
          : undefined,
    });
    if (given === undefined) return;
    reason = given.trim();
    // The action may have ended while the person was typing.
    const now = context.models.actions.get(action.id);
    if (now !== undefined && now.state !== "PendingApproval")
      return tellDecided(now, " Your reason was not sent.");
  }
  await busy(() =>
    context.kernel.request("lares/actions/reject", { id: action.id, ...(reason === "" ? {} : { reason }) }),
  );
  say(`$(circle-slash) Rejected: ${message(action.title, 80)}`);
}

async function rebase(context: ClientContext, action: Action): Promise<void> {
  const { id } = await busy(() => context.kernel.request("lares/actions/rebase", { id: action.id }));
  await commands.executeCommand("lares.showChanges", { id });
}

async function undo(context: ClientContext, action: Action): Promise<void> {
  if (action.state === "Committed" && !(await confirmUndo(action))) return;
  await busy(() => context.kernel.request("lares/actions/undo", { id: action.id }));
  say(`$(discard) Undone: ${message(action.title, 80)}`);
}

function tellOutcome(action: Action): void {
  const title = `“${message(action.title, 80)}”`;
  const { state } = action;
  if (state === "Committed")
    say(`$(check) ${["Applied", appliedOf(action)].filter(Boolean).join(" ")}: ${message(action.title, 80)}`);
  else if (state === "Stale")
    warn(
      `${title} was not applied: a file it would change was changed meanwhile. Nothing was touched.`,
      action,
    );
  else if (state === "Failed")
    warn(`${title} could not be applied, and nothing was changed. ${message(action.error ?? "")}`, action);
  else tellDecided(action);
}

/**
 * Reports that the action was already decided: in another window, by a rule, or by expiry. `more`: the consequence for
 * this answer.
 */
function tellDecided(action: Action, more = ""): void {
  const how: Record<Action["state"], string> = {
    PendingApproval: "is waiting for an answer",
    Approved: "is being applied",
    Committing: "is being applied",
    Committed: "was applied already",
    Rejected: "was rejected already",
    Failed: "could not be applied",
    Stale: "is out of date: a file it would change was changed meanwhile",
    Expired: "has expired: nobody answered in time",
    Undone: "was undone already",
  };
  void window.showInformationMessage(`“${message(action.title, 80)}” ${how[action.state]}.${more}`);
}

function warn(text: string, { id }: Action): void {
  const show = "Show Changes";
  void window.showWarningMessage(text, show).then((answer) => {
    if (answer === show) void commands.executeCommand("lares.showChanges", { id });
  });
}

function say(text: string): void {
  window.setStatusBarMessage(text, outcomeMs);
}

function busy<Result>(run: () => Promise<Result>): Thenable<Result> {
  return window.withProgress({ location: { viewId: "lares.approvals" } }, run);
}

async function fetch({ kernel }: ClientContext, id: string): Promise<Action> {
  return kernel.request("lares/actions/get", { id });
}

async function pick(
  { models }: ClientContext,
  { title, choose, none }: Words,
): Promise<ActionArgument | undefined> {
  const actions = choose({ models });
  if (actions.length === 0) {
    void window.showInformationMessage(none);
    return undefined;
  }
  const items = actions.map((action) => ({
    label: action.effects.map(decisionWordsOf).join(". "),
    description: weightText(action),
    detail: saidBy(models.agents.nameOf(action.agent), action.title, action.reason),
    id: action.id,
    digest: action.digest,
  }));
  return window.showQuickPick(items, { placeHolder: "Which change?", title, matchOnDetail: true });
}
