function love.conf(t)
  t.identity = "mgn-gallery"
  t.window.width, t.window.height, t.window.vsync = 320, 240, 0
  t.modules.audio, t.modules.sound, t.modules.joystick, t.modules.physics = false, false, false, false
end
