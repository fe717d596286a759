import { registered } from "./commands.ts";
import { openList } from "./picks.ts";
import { record } from "./record.ts";
import { tabsChanged } from "./tabs.ts";
import { editorsChanged, window } from "./window.ts";
import { files, filesChanged, textsChanged, workspace } from "./workspace.ts";

/** What the client showed and did since `forget()`. */
export const seen = Object.assign(record, {
  forget(): void {
    record.holdsPicks = false;
    record.channels.length = 0;
    record.opened.length = 0;
    record.closedTabs.length = 0;
    record.views.clear();
    record.panels.length = 0;
    record.clipboard = "";
    files.clear();
    filesChanged.dispose();
    workspace.trustGranted.dispose();
    tabsChanged.dispose();
    editorsChanged.dispose();
    textsChanged.dispose();
    window.activeTextEditor = undefined;
    window.visibleTextEditors = [];
    record.modified.clear();
    record.messages.length = 0;
    record.drawn.length = 0;
    record.commands.length = 0;
    registered.clear();
    workspace.workspaceFolders = undefined;
    workspace.textDocuments = [];
    workspace.isTrusted = true;
    workspace.settings = {};
    workspace.openedTexts = [];
    window.statusBarMessages = [];
    window.visibleTextEditors = [];
    window.chosenFile = undefined;
    openList.choose = null;
  },
});
