-- A script for wrk. Arguments: "random" and the number of animals, to request random animals; "add" and a body, to add
-- animals; "add-once" and a body, to add animals with idempotency keys; none, to request the path of the URL.
local requests = {}
local keyed = false

function init(arguments)
   local what, count = arguments[1], tonumber(arguments[2])
   math.randomseed(os.time() + tonumber(tostring(arguments):match("0x(%x+)") or "0", 16) % 65536)
   keyed = what == "add-once"
   if what == "add" or keyed then
      wrk.method = "POST"
      wrk.headers["Content-Type"] = "application/json"
      wrk.body = arguments[2]
   end
   -- Generated in advance, so that their generation is not measured.
   for number = 1, what == "random" and 50000 or 1 do
      local path = what == "random" and "/v1/pets/" .. math.random(count) or nil
      requests[number] = wrk.format(nil, path)
   end
end

function request()
   if keyed then
      wrk.headers["Idempotency-Key"] = string.format('"%08x-%08x"', math.random(0, 2^31 - 1), math.random(0, 2^31 - 1))
      return wrk.format()
   end
   return requests[math.random(#requests)]
end

-- Prints requests, duration in microseconds, failed connections, responses with status 400 and above, and the 99th
-- percentile in microseconds.
function done(summary, latency)
   local errors = summary.errors
   local failed = errors.connect + errors.read + errors.write + errors.timeout
   io.write(string.format("measured %d %d %d %d %d\n", summary.requests, summary.duration, failed,
      errors.status, latency:percentile(99)))
end
