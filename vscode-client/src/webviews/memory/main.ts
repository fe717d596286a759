import "./memory.css";
import { show } from "../shared/page.tsx";
import { memoryContract } from "./messages.ts";
import { MemoryView } from "./view.tsx";

show(memoryContract, MemoryView);
