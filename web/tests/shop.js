// A shop to look at: workflows of every kind, runs of every state, a draft, schedules, webhooks, waits.
import { api, BASE, until } from "./browser.js";

export const ODD = `<script>alert("x")</script>`;

/** Orders: a webhook starts it, and a wait is answered by a person. */
export function orders(service) {
  return {
    name: "order-processing",
    description: "Charges an order, reserves its stock and ships it",
    trigger: { type: "webhook" },
    tasks: {
      validate: { action: "core.echo", with: { order: "{{trigger.body.order_id}}" } },
      "fraud-score": { needs: ["validate"], url: `${service}/score`, body: { order: "{{trigger.body.order_id}}" } },
      charge: { needs: ["fraud-score"], url: `${service}/charge`, body: { amount: "{{trigger.body.amount}}" }, retry: { attempts: 2, delay: "10ms" } },
      "reserve-stock": { needs: ["charge"], action: "core.echo", with: { ok: true } },
      "send-receipt": { needs: ["charge"], action: "core.echo", with: { to: "{{trigger.body.email ?? 'ada@example.org'}}" } },
      ship: { needs: ["reserve-stock", "send-receipt"], action: "core.echo", with: { order: "{{trigger.body.order_id}}" } },
    },
  };
}

/** Orders with every kind of step, so that a run of it has one of each state. */
export function everyKind(service, name) {
  const post = (path, more = {}) => ({ url: service + path, method: "POST", ...more });
  return {
    name,
    tasks: {
      validate: { action: "core.echo", with: { order: "{{trigger.body.order}}", customer_id: "cus_R2x" } },
      "fraud-score": post("/score", { needs: ["validate"], body: { customer: "{{tasks.validate.output.customer_id}}" } }),
      "manual-review": { needs: ["fraud-score"], if: "tasks.fraud-score.body.score > 80", wait_for_webhook: { timeout: "1d" } },
      charge: post("/charge", {
        needs: ["fraud-score"],
        body: { amount: "{{trigger.body.total - trigger.body.discount}}", currency: "{{lower(trigger.body.currency)}}" },
        retries: { attempts: 5, delay: "1s", factor: 1, jitter: false },
      }),
      "send-receipt": post("/mail", { needs: ["charge"] }),
      "reserve-stock": post("/stock", { needs: ["charge"], for_each: "{{trigger.body.items}}", max_parallel: 4, body: { sku: "{{item}}" } }),
      "approve-discount": { needs: ["charge"], if: "trigger.body.discount > 20", wait_for_webhook: { timeout: "1d" } },
      "cool-off": { needs: ["send-receipt"], sleep: "3d" },
      ship: { needs: ["reserve-stock", "approve-discount"], if: "tasks.approve-discount.body.ok == true", action: "core.echo", with: { x: 1 } },
      "ask-for-review": post("/review", { needs: ["cool-off", "ship"] }),
      close: { needs: ["ask-for-review"], action: "core.echo", with: { x: 1 } },
    },
  };
}
export const ORDER = { order: 8841, total: 15900, discount: 3000, currency: "EUR", items: Array.from({ length: 40 }, (_, i) => i) };

export const approval = {
  name: "discount-approval",
  description: "Asks a person before a large discount",
  trigger: "api",
  tasks: {
    prepare: { action: "core.echo", with: { customer: "{{trigger.body.customer}}", discount: "{{trigger.body.discount}}" } },
    "approve-discount": { needs: ["prepare"], wait_for_webhook: { timeout: "21h" } },
    grant: { needs: ["approve-discount"], if: "tasks.approve-discount.body.approved == true", action: "core.echo", with: { granted: "{{trigger.body.discount}}" } },
    decline: { needs: ["approve-discount"], if: "tasks.approve-discount.body.approved == false", action: "core.echo", with: { granted: 0 } },
  },
};

/** People approve it and say which cost centre pays. */
export const expense = {
  name: "expense",
  trigger: "api",
  tasks: {
    approve: {
      approve: {
        title: "Expense of {{trigger.body.amount}} EUR",
        text: "{{trigger.body.reason}}",
        data: { amount: "{{trigger.body.amount}}", receipt: "{{trigger.body.receipt}}" },
        form: {
          type: "object",
          properties: { cost_center: { type: "string", title: "Cost centre", enum: ["R&D", "Sales"] }, note: { type: "string", title: "Note" } },
          required: ["cost_center"],
        },
        assignees: ["role:operator"],
        remind: { every: "1d", max: 2 },
        escalate: { after: "30d", to: ["role:admin"] },
        timeout: "60d",
        on_timeout: "reject",
      },
    },
    pay: { needs: ["approve"], if: "tasks.approve.output.approved", action: "core.echo", with: { paid_by: "{{tasks.approve.output.answer.cost_center}}" } },
  },
};

/** An hour of the night in Zurich whose slot does not pass while tests run. */
const NIGHT = ["02", "03"].includes(new Intl.DateTimeFormat("en-GB", { hour: "2-digit", timeZone: "Europe/Zurich" }).format()) ? 5 : 3;

export const report = {
  name: "nightly-invoices",
  description: "Sends the invoices of the day",
  trigger: { type: "cron", cron_expression: `0 ${NIGHT} * * *`, timezone: "Europe/Zurich", overlap: "skip" },
  tasks: { collect: { action: "core.echo", with: { n: 1 } }, send: { needs: ["collect"], action: "core.echo", with: { ok: true } } },
};

export const save = (definition, query = "") => api("PUT", `/workflows/${definition.name}${query}`, definition);
export const start = (workflow, body = {}, query = "") => api("POST", `/workflows/${workflow}/trigger${query}`, body);
export const ended = (id) => until(`${id} ends`, async () => (await api("GET", `/runs/${id}`)).finished_at);

/** Calls a webhook as the outside does. */
export async function call(url, body, headers = {}) {
  const at = new URL(url);
  const options = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  const response = await fetch(new URL(at.pathname, BASE), options);
  return { status: response.status, data: (await response.json()).data };
}

export const triggerOf = async (workflow) => (await api("GET", `/triggers?workflow=${workflow}`))[0];
