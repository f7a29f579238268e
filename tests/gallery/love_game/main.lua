-- LÖVE: shapes, text, a canvas, a shader and particles.
local canvas, shader, particles, mesh
local time = 0

function love.load()
  love.graphics.setBackgroundColor(0.1, 0.1, 0.15)
  canvas = love.graphics.newCanvas(128, 128)
  shader = love.graphics.newShader([[
    extern number time;
    vec4 effect(vec4 color, Image image, vec2 at, vec2 pixel) {
      return Texel(image, at + vec2(0.02 * sin(time * 4.0 + at.y * 20.0), 0.0)) * color;
    }
  ]])
  local dot = love.graphics.newCanvas(8, 8)
  love.graphics.setCanvas(dot)
  love.graphics.circle("fill", 4, 4, 4)
  love.graphics.setCanvas()
  particles = love.graphics.newParticleSystem(dot, 200)
  particles:setParticleLifetime(1, 2)
  particles:setEmissionRate(60)
  particles:setSpeed(20, 60)
  particles:setSpread(6)
  particles:setColors(1, 0.8, 0.2, 1, 1, 0, 0, 0)
  mesh = love.graphics.newMesh({ { 0, 0, 0, 0, 1, 0, 0 }, { 80, 0, 1, 0, 0, 1, 0 }, { 40, 70, 0.5, 1, 0, 0, 1 } }, "fan")
end

function love.update(dt)
  time = time + dt
  particles:update(dt)
end

function love.draw()
  love.graphics.setCanvas(canvas)
  love.graphics.clear(0.2, 0.3, 0.6)
  love.graphics.rectangle("line", 10, 10, 108, 108)
  love.graphics.print("canvas", 40, 56)
  love.graphics.setCanvas()
  shader:send("time", time)
  love.graphics.setShader(shader)
  love.graphics.draw(canvas, 20, 20)
  love.graphics.setShader()
  love.graphics.push()
  love.graphics.translate(240, 80)
  love.graphics.rotate(time)
  love.graphics.polygon("fill", -40, 0, 0, -40, 40, 0, 0, 40)
  love.graphics.pop()
  love.graphics.draw(mesh, 20, 160)
  love.graphics.setBlendMode("add")
  love.graphics.draw(particles, 220, 180)
  love.graphics.setBlendMode("alpha")
  love.graphics.print(string.format("%.2f seconds", time), 120, 5)
end
