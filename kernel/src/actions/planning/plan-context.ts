import type { CpuBudget } from "../../base/cpu-budget.ts";
import { notFound } from "../../base/errors.ts";
import type { Slices } from "../../base/slices.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { createSight, type Sight } from "../../policy/sight.ts";
import type { ChangedContent, NewContent } from "../content-requests.ts";
import { actionLimits } from "../limits.ts";
import { NewContents } from "./new-contents.ts";
import { Overlay, type Node } from "./overlay.ts";
import { PackageScripts } from "./package-scripts.ts";
import type { MadeContent } from "../plan.ts";
import { PlanBudget } from "./plan-budget.ts";
import type { ActionPorts } from "../ports.ts";
import { Subjects } from "./subjects.ts";

export type PlannerPorts = Pick<ActionPorts, "files" | "contents" | "metadata" | "copies" | "index">;

/** The resources of a plan. */
export interface PlanResources {
  /** The budget to which the work on contents is charged. */
  readonly budget: CpuBudget;
  /** The time on the kernel's event loop. */
  readonly slices: Slices;
  /** Contents that replace those of the inputs, by the indices of the effects. */
  readonly made?: ReadonlyMap<number, MadeContent>;
}

/** What the effects of one plan share. Each effect changes it for the later ones. */
export class PlanContext {
  readonly contents = new NewContents();
  readonly sight: Sight;
  readonly slices: Slices;
  readonly made: ReadonlyMap<number, MadeContent>;
  readonly budget: PlanBudget;
  readonly overlay: Overlay;
  readonly scripts: PackageScripts;
  readonly subjects: Subjects;
  /** The total length of the diffs so far. */
  readonly diffBytes = { seen: 0, unseen: 0 };
  readonly ports: PlannerPorts;
  readonly authority: Authority;

  constructor(ports: PlannerPorts, authority: Authority, { budget, slices, made }: PlanResources) {
    this.ports = ports;
    this.authority = authority;
    this.made = made ?? new Map();
    this.sight = createSight(authority, ports.index);
    this.slices = slices;
    this.budget = new PlanBudget(budget);
    this.overlay = new Overlay(ports, this.budget);
    this.scripts = new PackageScripts(ports, (path) => this.sight.sees(path), this.budget);
    this.subjects = new Subjects(authority, ports.index);
  }

  /** Throws the same NotFound for a hidden path as for a missing one. */
  checkSees(what: string, path: string): void {
    if (!this.sight.sees(path)) throw notFound(what, path);
  }

  /** Returns the result of changing the file, with a diff if there is room and time for one. */
  async change(path: string, node: Node, made: NewContent): Promise<ChangedContent> {
    const hasRoom = this.budget.isUnseen
      ? this.diffBytes.unseen < actionLimits.unseenDiffBytes
      : this.diffBytes.seen < actionLimits.diffTotalBytes;
    const wantsDiff = hasRoom && this.budget.hasTimeToCompare;
    return this.overlay.change(path, node.kind === "file" ? node : null, made, wantsDiff);
  }
}
