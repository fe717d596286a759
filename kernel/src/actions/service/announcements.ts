import type { Action } from "../../base/vocabulary/action.ts";
import type { ActionRecord } from "../action-record.ts";
import type { ActionPresenter } from "./presenter.ts";

interface AnnouncementPorts {
  changed(action: Action): void;
  /** Called for an action that waits no more. */
  ended(id: string): void;
}

/** Announces actions as shown to a person, each time that their state has changed. */
export class Announcements {
  readonly #presenter: ActionPresenter;
  readonly #ports: AnnouncementPorts;
  /** By action: the record that is being prepared for its announcement. */
  readonly #preparing = new Map<string, ActionRecord>();

  constructor(presenter: ActionPresenter, ports: AnnouncementPorts) {
    this.#presenter = presenter;
    this.#ports = ports;
  }

  /**
   * Announces the action and returns it as shown to a person. A waiting action is announced after it was matched with
   * the rules, unless a newer version of it was announced meanwhile.
   */
  async announce(record: ActionRecord): Promise<Action> {
    const { id, state } = record.action;
    if (state !== "PendingApproval") {
      this.#preparing.delete(id);
      this.#ports.ended(id);
      return this.#announced(this.#presenter.ended(record));
    }
    this.#preparing.set(id, record);
    const action = await this.#presenter.shown(record);
    if (this.#preparing.get(id) !== record) return action;
    this.#preparing.delete(id);
    return this.#announced(action);
  }

  #announced(action: Action): Action {
    this.#ports.changed(action);
    return action;
  }
}
