// Starts the page.

// The first of all: its requests are under way while the other modules are made.
import { endEarly } from "./data/early.js";
import { App } from "./app.js";

new App().start(endEarly);
