import { EventEmitter } from "./events.ts";
import { record } from "./record.ts";
import { Uri } from "./values.ts";

export class TabInputText {
  readonly uri: Uri;
  constructor(uri: Uri) {
    this.uri = uri;
  }
}

export class TabInputTextDiff {
  readonly original: Uri;
  readonly modified: Uri;
  constructor(original: Uri, modified: Uri) {
    this.original = original;
    this.modified = modified;
  }
}

export class TabInputWebview {
  readonly viewType: string;
  constructor(viewType: string) {
    this.viewType = viewType;
  }
}

interface FakeTab {
  readonly label: string;
  readonly input: unknown;
}

export const tabsChanged = new EventEmitter<void>();

export const tabGroups = {
  activeTabGroup: {
    activeTab: undefined as FakeTab | undefined,
    /** Tabs that are open behind the active one. */
    others: [] as FakeTab[],
    viewColumn: 1,
    get tabs(): FakeTab[] {
      return [...(this.activeTab === undefined ? [] : [this.activeTab]), ...this.others];
    },
  },
  get all() {
    return [this.activeTabGroup];
  },
  onDidChangeTabs: tabsChanged.event,
  onDidChangeTabGroups: tabsChanged.event,
  close: async (given: FakeTab | readonly FakeTab[]): Promise<void> => {
    const group = tabGroups.activeTabGroup;
    for (const tab of [given].flat()) {
      record.closedTabs.push(tab.label);
      if (group.activeTab === tab) group.activeTab = undefined;
      group.others = group.others.filter((other) => other !== tab);
    }
  },
};

/** Sets the active tab and notifies listeners. */
export function showTab(tab: FakeTab | undefined): void {
  tabGroups.activeTabGroup.activeTab = tab;
  tabsChanged.fire();
}
