import "../review/review.css";
import "./conversations.css";
import { show } from "../shared/page.tsx";
import { conversationsContract } from "./messages.ts";
import { ConversationsView } from "./view.tsx";

show(conversationsContract, ConversationsView);
