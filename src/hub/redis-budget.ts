import { windowMs } from '../gate/fleet/protocol.ts';
import {
  type BudgetLimits,
  type BudgetStore,
  type BudgetView,
  burstMs,
  claimLifetimeMs,
  countedAges,
  leastShare,
  outrankedMs,
  recoveryStepMs,
} from './budget.ts';

type Numbers = readonly number[];

/**
 * Runs `budgetScript`. Returns the milliseconds to wait, 0 for a grant; the name of the budget, which is another one after
 * Redis has lost it, and its age; how many hubs share it and the place of this one; the limits for reads, creates and requests, as
 * configured and at present; and for creates, reads and safety reads, how long ago those in the window were granted.
 */
export type RunScript = (
  keys: string[],
  args: string[],
) => Promise<
  readonly [
    waitMs: number,
    epoch: string,
    ageMs: number,
    hubs: Numbers,
    configured: Numbers,
    present: Numbers,
    ...ages: Numbers[],
  ]
>;

/** Redis's own clock: those of the hubs may differ. */
const redisTime = "local t = redis.call('TIME'); local raw = t[1] * 1000 + math.floor(t[2] / 1000)";

/**
 * All of a budget's commands in one script, which Redis runs as a whole.
 *
 * Its time does not jump when the clock of Redis is set: each hub sends the time on a clock that never jumps, and the
 * script's time stays within `slack` of it, counted from the hub's first call. Only the first call of all hubs trusts the
 * clock of Redis.
 */
export const budgetScript = (clock = redisTime) => `
local state, hubs, claims = KEYS[1], KEYS[2], KEYS[3]
local granted = { create = KEYS[4], read = KEYS[5], safety = KEYS[6] }
local command, hub, monotonic, line, value = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local slack = 100
local limits = { reads = tonumber(ARGV[6]), creates = tonumber(ARGV[7]), requests = tonumber(ARGV[8]) }
local window, lifetime, outranked, least = tonumber(ARGV[9]) + 2 * slack, tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local burst, step, call = tonumber(ARGV[13]), tonumber(ARGV[14]), ARGV[15]

-- A Redis that is short of memory may evict a part of the budget. Without it all of the budget is lost, for each hub.
local function isLost()
  if redis.call('EXISTS', state) ~= redis.call('EXISTS', hubs) then return true end
  local earliest = tonumber(redis.call('HGET', state, 'last') or '0') - window
  for name, key in pairs(granted) do
    local latest = tonumber(redis.call('HGET', state, name) or '0')
    if latest > earliest and redis.call('EXISTS', key) == 0 then return true end
  end
end
if isLost() then redis.call('DEL', unpack(KEYS)) end

${clock}
local last = tonumber(redis.call('HGET', state, 'last') or '0')
local now = raw + tonumber(redis.call('HGET', state, 'offset') or '0')
local began = tonumber(string.match(redis.call('HGET', hubs, hub) or '', '^%S+'))
if began then
  local expected = began + monotonic
  now = math.max(expected - slack, math.min(now, expected + slack))
elseif last > 0 then
  -- This hub cannot know how much time has passed since the last call of another one.
  now = last
end
now = math.max(now, last)
-- The clock of this hub may have stopped for a while: it must not keep the time from passing.
began = math.max(began or now - monotonic, now - slack - monotonic)
redis.call('HSET', hubs, hub, string.format('%.0f %.0f %d %d %d', began, now, limits.reads, limits.creates, limits.requests))
redis.call('HSET', state, 'offset', now - raw, 'last', now)
redis.call('HSETNX', state, 'epoch', hub .. ' ' .. call)
redis.call('HSETNX', state, 'since', now)
local age = now - redis.call('HGET', state, 'since')
local epoch = redis.call('HGET', state, 'epoch')

-- The smallest limits of all hubs count, so that hubs with different ones share them fairly.
local alive, place = 0, 0
local others = redis.call('HGETALL', hubs)
for i = 1, #others, 2 do
  local seen, reads, creates, requests = string.match(others[i + 1], '^%S+ (%S+) (%S+) (%S+) (%S+)$')
  seen = tonumber(seen)
  if seen > now - window then
    alive = alive + 1
    if others[i] < hub then place = place + 1 end
    limits.reads = math.min(limits.reads, tonumber(reads))
    limits.creates = math.min(limits.creates, tonumber(creates))
    limits.requests = math.min(limits.requests, tonumber(requests))
  elseif seen <= now - 10 * window then redis.call('HDEL', hubs, others[i])
  end
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, 10 * window) end

-- A reduced budget doubles with each step until it is whole.
local untilMs = tonumber(redis.call('HGET', state, 'until') or '0')
local share = tonumber(redis.call('HGET', state, 'share') or '1')
share = math.max(share, 0.5 ^ math.ceil(math.max(0, untilMs - now) / step))
if command == 'reduce' then
  if now >= tonumber(redis.call('HGET', state, 'reduced') or '0') + burst then
    share = math.max(least, share / 2)
    redis.call('HSET', state, 'reduced', now)
  end
  local recovery = step * math.log(1 / share) / math.log(2)
  redis.call('HSET', state, 'share', tostring(share), 'until', math.max(untilMs, now + value + recovery))
end
local configured = { limits.reads, limits.creates, limits.requests }
for name, limit in pairs(limits) do limits[name] = math.max(1, math.floor(limit * share)) end

local times = {}
for name, key in pairs(granted) do
  times[name] = {}
  for _, text in ipairs(redis.call('LRANGE', key, 0, -1)) do
    local time = tonumber(text)
    if time > now - window then table.insert(times[name], time) else redis.call('LPOP', key) end
  end
end

if command == 'report' then
  for _, ago in ipairs(cjson.decode(ARGV[5])) do table.insert(times[line], now - ago) end
  table.sort(times[line])
  -- More than the limit say nothing more.
  while #times[line] > tonumber(ARGV[8]) do table.remove(times[line], 1) end
  redis.call('DEL', granted[line])
  for _, time in ipairs(times[line]) do redis.call('RPUSH', granted[line], string.format('%.0f', time)) end
  redis.call('PEXPIRE', granted[line], 10 * window)
  redis.call('HSET', state, line, times[line][#times[line]] or '0')
end

local function result(wait)
  local present = { limits.reads, limits.creates, limits.requests }
  local answer = { math.ceil(wait), epoch, age, { alive, place }, configured, present }
  for _, name in ipairs({ 'create', 'read', 'safety' }) do
    local ages = {}
    for _, time in ipairs(times[name]) do table.insert(ages, now - time) end
    table.insert(answer, ages)
  end
  return answer
end

local claim = hub .. ' ' .. line
if command == 'withdraw' then redis.call('HDEL', claims, claim) end
if command ~= 'reserve' then return result(0) end
local deadline = began + value

-- Claims of other hubs and in other lines that are more urgent, and those among them in the same line.
local ahead, sameLine = 0, 0
local all = redis.call('HGETALL', claims)
for i = 1, #all, 2 do
  local of = string.match(all[i], '(%S+)$')
  local at, due = string.match(all[i + 1], '^(%S+) (%S+)$')
  if tonumber(at) <= now - lifetime then redis.call('HDEL', claims, all[i])
  elseif all[i] ~= claim and tonumber(due) < deadline then
    ahead = ahead + 1
    if of == line then sameLine = sameLine + 1 end
  end
end

local function roomIn(lines, limit, spare)
  local merged = {}
  for _, name in ipairs(lines) do
    for _, time in ipairs(times[name]) do table.insert(merged, time) end
  end
  table.sort(merged)
  local free = limit - #merged
  if free > spare then return 0 end
  if free > 0 then return outranked end
  return merged[#merged - limit + 1] + window - now
end

local kept = limits.reads > 1 and math.max(1, math.floor(limits.reads / 16)) or 0
local wait
if line == 'create' then wait = roomIn({ 'create' }, limits.creates, sameLine)
elseif line == 'read' then
  wait = roomIn({ 'read' }, limits.reads - kept, sameLine)
else
  local limit = math.max(1, kept, limits.reads - math.floor(limits.reads / 9) - #times.read)
  local latest = times.safety[#times.safety] or (now - window)
  wait = math.max(latest + window / limit - now, roomIn({ 'safety' }, limit, sameLine))
end
if line ~= 'create' then wait = math.max(wait, roomIn({ 'read', 'safety' }, limits.reads, sameLine)) end
wait = math.max(wait, roomIn({ 'create', 'read', 'safety' }, limits.requests, ahead))

if wait > 0 then
  redis.call('HSET', claims, claim, string.format('%.0f %.0f', now, deadline))
  redis.call('PEXPIRE', claims, 10 * window)
else
  redis.call('RPUSH', granted[line], string.format('%.0f', now))
  redis.call('HSET', state, line, now)
  table.insert(times[line], now)
  redis.call('PEXPIRE', granted[line], 10 * window)
  redis.call('HDEL', claims, claim)
end
return result(wait)
`;

const keys = ['state', 'hubs', 'claims', 'create', 'read', 'safety'];

/** Redis keeps the budget for at least this long after the last call. */
const keptMs = 10 * windowMs;

/** A budget that several hubs share. */
export interface SharedBudget extends BudgetStore {
  /** Returns for how many milliseconds Redis has had the budget, as of the last call that succeeded. */
  age(): number;
}

/**
 * Returns a budget that all hubs on one Redis share. Each call is one script, and fails when Redis does, or when Redis has
 * lost the budget.
 * @param hub this hub's name among them
 * @param monotonic milliseconds on a clock that never jumps
 */
export function redisBudget(
  run: RunScript,
  limits: BudgetLimits,
  hub: string,
  monotonic: () => number,
): SharedBudget {
  const { reads, creates, requests } = limits;
  const constants = [
    reads,
    creates,
    requests,
    windowMs,
    claimLifetimeMs,
    outrankedMs,
    leastShare,
    burstMs,
    recoveryStepMs,
  ];
  // Until Redis has said how many hubs there are, there may be another one that cannot reach it either.
  let view: BudgetView = {
    configured: limits,
    present: limits,
    hubs: 2,
    place: 0,
    granted: { create: [], read: [], safety: [] },
  };
  let age = 0;
  let calls = 0;
  /** The name of the budget, and when Redis was last sent a command that succeeded. */
  let last: { epoch: string; at: number } | null = null;
  const limitsOf = ([reads = 0, creates = 0, requests = 0]: Numbers): BudgetLimits => ({
    reads,
    creates,
    requests,
  });
  const call = async (command: string, line: string, value: number | string) => {
    const now = Math.floor(monotonic());
    calls += 1;
    const args = [command, hub, now, line, value, ...constants, calls].map(String);
    // Of several calls under way when Redis lost the budget, each one must notice.
    const before = last;
    const [waitMs, epoch, ageMs, [hubs = 1, place = 0], configured, present, ...ages] = await run(keys, args);
    const known = before ?? last;
    const isLost = known !== null && epoch !== known.epoch && now < known.at + keptMs;
    last = { epoch, at: now };
    if (isLost) throw new Error('Redis has lost the budget');
    const [create = [], read = [], safety = []] = ages.map((each) => each.map((age) => now - age));
    age = ageMs;
    view = {
      configured: limitsOf(configured),
      present: limitsOf(present),
      hubs,
      place,
      granted: { create, read, safety },
    };
    return waitMs;
  };
  return {
    view: () => view,
    age: () => age,
    async reserve(line, deadline) {
      const waitMs = await call('reserve', line, Math.floor(deadline));
      return waitMs === 0 ? { granted: true } : { granted: false, retryMs: waitMs };
    },
    async withdraw(line) {
      await call('withdraw', line, 0);
    },
    async reduce(forMs) {
      await call('reduce', '', Math.floor(forMs));
    },
    async report(line, agesMs) {
      await call('report', line, JSON.stringify(countedAges(agesMs, limits).map(Math.floor)));
    },
    async present() {
      await call('present', '', 0);
    },
  };
}
