-- wrk -s heads.lua URL -- FILE: sends the requests of a file in turn (heads.py).
local requests, next_one = {}, 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for head in file:read("*a"):gmatch("(.-\r\n\r\n)") do
    requests[#requests + 1] = head
  end
  file:close()
end

function request()
  next_one = next_one % #requests + 1
  return requests[next_one]
end
